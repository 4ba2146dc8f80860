package io.lightmq.core.delivery;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.Split;
import io.lightmq.core.destination.Subscription;
import io.lightmq.wire.entry.SequenceRange;
import java.util.List;

/** Prints what giving out and acknowledging costs per message of 1 KiB; run by hand. */
final class DeliveryCost {
  private DeliveryCost() {}

  public static void main(String[] args) {
    for (int round = 0; round < 6; round++) {
      DeliveryBench bench = new DeliveryBench();
      Subscription subscription = bench.queue();
      Destination queue = subscription.destination();
      DeliveryBench.FakeOutlet outlet = bench.new FakeOutlet(1);
      Consumer consumer =
          bench.dispatcher.attach(bench.dispatcher.connect(outlet), 1, 1, subscription);
      long window = 0;
      long sum = 0;
      for (int i = 0; i < 2000; i++) {
        bench.publish(queue, 50, 1024);
        long start = System.nanoTime();
        sum += cycle(bench, consumer, 50);
        window += System.nanoTime() - start;
        outlet.batches.clear();
      }
      bench.publish(queue, 20_000, 1024);
      bench.checkpoint(queue);
      bench.leaveWindow();
      long start = System.nanoTime();
      for (int i = 0; i < 20; i++) {
        sum += cycle(bench, consumer, 1000);
        outlet.batches.clear();
      }
      long segment = System.nanoTime() - start;
      System.out.printf(
          "%d messages: window %d ns, segments %d ns per message%n",
          sum, window / 100_000, segment / 20_000);
    }
  }

  private static int cycle(DeliveryBench bench, Consumer consumer, int count) {
    bench.dispatcher.pull(consumer, 1, count, 2 << 20, 500);
    bench.loops.runUntilIdle();
    DeliveryBench.FakeOutlet outlet = (DeliveryBench.FakeOutlet) consumer.recipient().outlet();
    Outlet.Batch batch = outlet.batches.get(0);
    long first = io.lightmq.wire.entry.Entry.sequence(batch.entries().bytes(), 0);
    Split split =
        consumer
            .holding()
            .split(List.of(new SequenceRange(LaneCode.durable(4), first, batch.count())));
    consumer.holding().settle(split.accepted());
    consumer.subscription().acknowledge(split.accepted());
    return batch.count();
  }
}
