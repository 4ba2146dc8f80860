package io.lightmq.core.simulation;

import io.lightmq.wire.entry.MessageEdit;

/** Nothing is given out after its last attempt, and a dead letter tells how many it had. */
final class AttemptsCounted implements Oracle {
  private static final String ATTEMPTS = MessageEdit.PREFIX + "Attempts";
  private static final String REASON = MessageEdit.PREFIX + "Reason";

  @Override
  public void arrived(Arrival arrival) {
    int most = arrival.followed().destination.maxAttempts;
    if (most > 0 && arrival.copy().fewestFailures >= most && arrival.isWhereItWas()) {
      throw violated(arrival + " comes after its last attempt");
    }
  }

  @Override
  public void letter(Letter letter) {
    Object attempts = letter.received().properties().get(ATTEMPTS);
    Object reason = letter.received().properties().get(REASON);
    if (!(attempts instanceof Integer count)
        || !(letter.dead() ? "max-attempts" : "expired").equals(reason)) {
      throw violated(letter + " says " + letter.received().properties());
    }
    if (letter.dead()
        && letter.candidates().stream()
            .noneMatch(
                copy ->
                    count >= copy.followed.destination.maxAttempts
                        && count >= copy.fewestFailures
                        && count <= copy.mostFailures)) {
      throw violated(letter + " says that it had " + count + " attempts");
    }
  }
}
