package io.lightmq.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.delivery.DeliveryBench.FakeOutlet;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.destination.OffHeap;
import io.lightmq.core.destination.Split;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.SequenceRange;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Random publishing, pulling, acknowledging, returning, losing connections, checkpoints and reads
 * against a model that knows of each message only who has it and how often it was delivered.
 */
class RandomDeliveryTest {
  private static final int CONSUMERS = 3;

  /** A message of a lane. */
  record Key(int lane, long sequence) {}

  private final DeliveryBench bench = new DeliveryBench();
  private final Subscription subscription = bench.queue();
  private final Destination queue = subscription.destination();
  private final List<FakeOutlet> outlets = new ArrayList<>();
  private final List<Consumer> consumers = new ArrayList<>();

  private final Set<Key> unacknowledged = new HashSet<>();
  private final Map<Key, Integer> holders = new HashMap<>();
  private final Map<Key, Integer> counts = new HashMap<>();
  private int pulls;

  private void connect(int index) {
    FakeOutlet outlet = bench.new FakeOutlet(100 + index);
    Consumer consumer =
        bench.dispatcher.attach(bench.dispatcher.connect(outlet), 1, 1, subscription);
    if (index == outlets.size()) {
      outlets.add(outlet);
      consumers.add(consumer);
    } else {
      outlets.set(index, outlet);
      consumers.set(index, consumer);
    }
  }

  @Property(tries = 20)
  void everyMessageHasOneHolderAndItsCount(@ForAll long seed) throws IOException {
    new RandomDeliveryTest().run(seed);
  }

  private void run(long seed) throws IOException {
    Random random = new Random(seed);
    for (int i = 0; i < CONSUMERS; i++) {
      connect(i);
    }
    for (int step = 0; step < 300; step++) {
      int who = random.nextInt(CONSUMERS);
      Consumer consumer = consumers.get(who);
      switch (random.nextInt(12)) {
        case 0, 1 -> {
          int count = random.nextInt(30) == 0 ? 3000 : 1 + random.nextInt(100);
          long first = bench.publish(queue, count, count > 1000 ? 8 : 10 + random.nextInt(300));
          for (int i = 0; i < count; i++) {
            unacknowledged.add(new Key(LaneCode.durable(4), first + i));
          }
        }
        case 2 ->
            unacknowledged.add(new Key(LaneCode.unlogged(4), bench.publishUnlogged(queue, 20)));
        case 3, 4, 5 ->
            bench.dispatcher.pull(
                consumer,
                ++pulls,
                1 + random.nextInt(200),
                1 + random.nextInt(30_000),
                random.nextInt(2) * 300);
        case 6, 7 -> acknowledge(random, who);
        case 8 -> giveBack(random, who);
        case 9 -> {
          if (random.nextInt(4) == 0) {
            bench.dispatcher.disconnect(consumer.recipient());
            for (Key key : held(who)) {
              holders.remove(key);
              counts.putIfAbsent(key, 1); // flagged; that it lay there is no further delivery
            }
            outlets.get(who).batches.clear();
            connect(who);
          }
        }
        case 10 -> {
          if (random.nextInt(3) == 0) {
            bench.leaveWindow();
          } else if (random.nextInt(3) == 0) {
            bench.checkpoint(queue);
            queue.trim();
          }
        }
        default -> bench.loops.runUntilIdle();
      }
      bench.dispatcher.dispatch(queue.queueSubscription());
      collect();
      check();
    }
    checkRestart();
    drain();
  }

  private List<Key> held(int who) {
    return holders.entrySet().stream()
        .filter(e -> e.getValue() == who)
        .map(Map.Entry::getKey)
        .sorted((a, b) -> Long.compare(a.sequence(), b.sequence()))
        .toList();
  }

  private List<SequenceRange> some(Random random, int who) {
    List<SequenceRange> ranges = new ArrayList<>();
    int portion = 1 + random.nextInt(4);
    for (Key key : held(who)) {
      if (random.nextInt(portion) == 0) {
        ranges.add(new SequenceRange(key.lane(), key.sequence(), 1));
      }
    }
    return ranges;
  }

  private void acknowledge(Random random, int who) {
    Consumer consumer = consumers.get(who);
    List<SequenceRange> ranges = some(random, who);
    Split split = consumer.holding().split(ranges);
    assertThat(split.refused()).isZero();
    consumer.holding().settle(split.accepted());
    assertThat(subscription.acknowledge(split.accepted())).isEqualTo(ranges.size());
    for (SequenceRange range : ranges) {
      Key key = new Key(range.lane(), range.from());
      unacknowledged.remove(key);
      holders.remove(key);
    }
    int other = (who + 1) % CONSUMERS;
    List<SequenceRange> foreign =
        held(other).stream().map(k -> new SequenceRange(k.lane(), k.sequence(), 1)).toList();
    assertThat(consumer.holding().split(foreign).accepted()).isEmpty();
    assertThat(consumer.holding().split(ranges).refused()).isEqualTo(ranges.size());
  }

  private void giveBack(Random random, int who) {
    List<SequenceRange> ranges = some(random, who);
    boolean attempted = random.nextBoolean();
    for (SequenceRange range : ranges) {
      Key key = new Key(range.lane(), range.from());
      holders.remove(key);
      if (attempted) {
        counts.merge(key, 1, (a, b) -> Math.min(255, a + b));
      }
    }
    assertThat(bench.dispatcher.giveBack(consumers.get(who), ranges, attempted)).isZero();
  }

  private void collect() {
    for (int who = 0; who < CONSUMERS; who++) {
      FakeOutlet outlet = outlets.get(who);
      for (Outlet.Batch batch : outlet.batches) {
        DeliveryBench.sequences(batch);
        int[] deliveries = new int[batch.count()];
        for (Outlet.Seen seen : batch.seen()) {
          for (int i = 0; i < seen.count(); i++) {
            deliveries[seen.index() + i] = seen.deliveries();
          }
        }
        ByteBuffer bytes = batch.entries().bytes();
        int index = 0;
        long[] last = {-1, -1};
        for (int at = 0; at < batch.length(); at += Entry.length(bytes, at)) {
          int lane = Entry.lane(bytes, at);
          Key key = new Key(lane, Entry.sequence(bytes, at));
          assertThat(unacknowledged).contains(key);
          assertThat(holders.put(key, who)).isNull();
          assertThat(deliveries[index++]).isEqualTo(counts.getOrDefault(key, 0));
          assertThat(key.sequence()).isGreaterThan(last[lane >>> 7]);
          last[lane >>> 7] = key.sequence();
        }
      }
      outlet.batches.clear();
    }
  }

  private void check() {
    assertThat(subscription.backlog()).isEqualTo(unacknowledged.size());
    assertThat(subscription.ready()).isEqualTo(unacknowledged.size() - subscription.inFlight());
    assertThat(bench.damages).isEmpty();
  }

  /** A crash keeps what is not acknowledged, and flags at least all that was given out. */
  private void checkRestart() throws IOException {
    bench.loops.runUntilIdle();
    collect();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    queue.encode(new DataOutputStream(bytes));
    OffHeap memory = new OffHeap(new DirectMemory());
    Destinations others = new Destinations(memory, bench.store);
    Destination copy =
        others.decode(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    Subscription restarted = copy.queueSubscription();
    long durable = unacknowledged.stream().filter(k -> k.lane() < 128).count();
    assertThat(restarted.backlog()).isEqualTo(durable);
    for (Key key : unacknowledged) {
      if (key.lane() < 128) {
        assertThat(restarted.isFree(key.lane(), key.sequence())).isTrue();
        int expected = Math.max(counts.getOrDefault(key, 0), holders.containsKey(key) ? 1 : 0);
        assertThat(restarted.deliveries(key.lane(), key.sequence()))
            .isEqualTo(Math.min(255, expected));
      }
    }
    restarted.seen().flagTouched();
    for (Key key : holders.keySet()) {
      if (key.lane() < 128) {
        assertThat(restarted.deliveries(key.lane(), key.sequence())).isPositive();
      }
    }
    others.delete(copy);
    assertThat(memory.usedBytes()).isZero();
  }

  private void drain() {
    for (int round = 0; !unacknowledged.isEmpty(); round++) {
      assertThat(round).isLessThan(20_000);
      for (int who = 0; who < CONSUMERS; who++) {
        bench.dispatcher.pull(consumers.get(who), ++pulls, 1000, 1 << 20, 0);
        bench.loops.runUntilIdle();
        collect();
        acknowledge(
            new Random(0) {
              @Override
              public int nextInt(int bound) {
                return 0;
              }
            },
            who);
      }
    }
    for (Consumer consumer : consumers) {
      bench.dispatcher.disconnect(consumer.recipient());
    }
    assertThat(bench.store.usedBytes()).isZero();
    bench.destinations.delete(queue);
    assertThat(bench.memory.usedBytes()).isZero();
    outlets.forEach(outlet -> assertThat(outlet.buffers).isZero());
  }
}
