package io.lightmq.core.simulation;

import java.util.List;

/** Of what waits, the highest priority comes first. */
final class HighestPriorityFirst implements Oracle {
  @Override
  public void arrivedTogether(List<Arrival> batch) {
    check(batch);
  }

  @Override
  public void drained(Followed queue, List<Message> browsed, List<Arrival> taken) {
    check(taken);
  }

  private void check(List<Arrival> taken) {
    int last = 9;
    for (Arrival each : taken) {
      int priority = each.message().content.priority();
      if (priority > last) {
        throw violated(each + " comes behind one of priority " + last);
      }
      last = priority;
    }
  }
}
