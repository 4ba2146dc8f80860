package io.lightmq.core.simulation;

import java.util.List;

/** A consumer gets what a browser saw before, in the same order. */
final class BrowsersSeeWhatComes implements Oracle {
  @Override
  public void drained(Followed queue, List<Message> browsed, List<Arrival> taken) {
    List<Message> came = taken.stream().map(Arrival::message).toList();
    if (!came.equals(browsed)) {
      throw violated("a browser of %s saw %s, a consumer got %s".formatted(queue, browsed, came));
    }
  }
}
