package io.lightmq.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Subscription;
import org.junit.jupiter.api.Test;

class GroupTurnTest {
  private static final int MESSAGES = 500;

  @Test
  void aTurnGivesUpNoMoreThanWithoutGroupsHoweverManyConsumersWait() {
    long[] plain = givenUp(false);
    assertThat(plain[0]).as("in the first turn").isBetween(1L, 1_000L);
    assertThat(givenUp(true)).isEqualTo(plain);
  }

  /** What is given up in each turn, of which each but the last asks for one more. */
  private static long[] givenUp(boolean grouped) {
    DeliveryBench bench = new DeliveryBench();
    Subscription subscription = bench.queue();
    Destination queue = subscription.destination();
    Recipient recipient = bench.dispatcher.connect(bench.new FakeOutlet(1));
    for (int i = 0; i < 40; i++) {
      Consumer consumer = bench.dispatcher.attach(recipient, i, 1, subscription);
      bench.dispatcher.pull(consumer, i, 100, 1 << 20, 60_000);
    }
    bench.publish(queue, MESSAGES, 10, bench.wallMillis(), 9);
    if (grouped) {
      queue.group(true);
    }
    long[] turns = new long[MESSAGES];
    for (int turn = 0; subscription.backlog() > 0; turn++) {
      assertThat(bench.goOnLater).isEqualTo(turn);
      long before = subscription.backlog();
      bench.dispatcher.dispatch(subscription);
      turns[turn] = before - subscription.backlog();
      assertThat(turns[turn]).isPositive();
    }
    return turns;
  }
}
