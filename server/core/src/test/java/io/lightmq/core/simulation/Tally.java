package io.lightmq.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;

/** What happened in some histories, so that a simulation that does nothing is noticed. */
final class Tally {
  private int histories;
  private int ends;
  private int overflowed;
  private int replays;
  long messages;
  long arrivals;
  long again;
  long letters;
  long acknowledged;
  long retried;
  long commits;

  void add(World world) {
    histories++;
    ends += world.ends();
    replays += world.replays();
    overflowed += world.overflowFiles() > 0 ? 1 : 0;
    world.ledger.count(this);
  }

  void checkThatMuchHappened() {
    assertThat(ends).as("ends of the broker").isGreaterThan(2 * histories);
    assertThat(replays).as("replays beside the broker").isGreaterThan(2 * histories);
    assertThat(overflowed).as("histories with overflow").isGreaterThan(histories / 3);
    assertThat(messages).as("messages").isGreaterThan(80L * histories);
    assertThat(arrivals).as("arrivals").isGreaterThan(60L * histories);
    assertThat(again).as("arrivals of what came before").isGreaterThan(8L * histories);
    assertThat(acknowledged).as("confirmed acknowledgements").isGreaterThan(5L * histories);
    assertThat(letters).as("letters").isGreaterThan(histories);
    assertThat(retried).as("letters sent back").isGreaterThan(histories / 2);
    assertThat(commits).as("commits that happened").isGreaterThan(2L * histories);
  }

  @Override
  public String toString() {
    return ("%d histories: %d ends of the broker, %d replays, %d with overflow, %d messages, %d"
            + " arrivals, %d of them again, %d acknowledged, %d letters, %d sent back, %d"
            + " commits that happened")
        .formatted(
            histories,
            ends,
            replays,
            overflowed,
            messages,
            arrivals,
            again,
            acknowledged,
            letters,
            retried,
            commits);
  }
}
