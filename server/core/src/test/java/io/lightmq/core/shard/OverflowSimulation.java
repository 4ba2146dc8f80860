package io.lightmq.core.shard;

import io.lightmq.core.shard.Command.Subscribe;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

/**
 * One producer and random consumers over a few kilobytes of memory, with overflow files that fail
 * at random, and without crashes: so every message that was taken reaches each subscription, once
 * in the producer's order, and in the end nothing is left of the overflow.
 */
final class OverflowSimulation {
  /** What a reader of one subscription saw and owes. */
  private final class Reader {
    final int id;
    final int topic;
    final List<Received> held = new ArrayList<>();
    final Set<String> done = new HashSet<>();
    final int[] highest = {-1, -1, -1};

    Reader(int id, int topic) {
      this.id = id;
      this.topic = topic;
    }

    void received(Received message) {
      int order = order(message.text());
      if (refused.contains(message.text())) {
        throw new AssertionError(message + " was refused");
      }
      if (!sent.get(topic).contains(message.text()) || done.contains(message.text())) {
        throw new AssertionError(message + " is not for reader " + id + ", or comes again");
      }
      if (message.deliveries() == 0) {
        int before = highest[order % PRIORITIES];
        if (order < before) {
          throw new AssertionError(message + " comes after " + before + " at reader " + id);
        }
        highest[order % PRIORITIES] = order;
      }
      held.add(message);
    }
  }

  /** A message's number modulo this is its priority, so each priority has an order of its own. */
  private static final int PRIORITIES = 3;

  private final Random random;
  private final BrokerHarness h;
  private final UUID link;
  private final List<Set<String>> sent = List.of(new HashSet<>(), new HashSet<>());
  private final Map<Integer, List<String>> unanswered = new HashMap<>();
  private final Set<String> refused = new HashSet<>();
  private final List<Reader> readers =
      List.of(new Reader(1, 0), new Reader(2, 1), new Reader(3, 1), new Reader(4, 1));
  private final long[] destinations = new long[2];
  private FakePeer peer;
  private long number;
  private int order;
  private boolean faults;
  private boolean deletionFailed;

  OverflowSimulation(long seed, boolean writesNothing) {
    this.random = new Random(seed);
    this.h = new BrokerHarness(seed);
    this.link = new UUID(7, seed);
    int memory = 4096 << random.nextInt(3);
    long limit = random.nextInt(3) == 0 ? 256 << 10 : 4 << 20;
    h.settings = BrokerHarness.settings(64 << 10, 1 << 17, memory, limit);
    h.wrap = disk -> faulty(disk, writesNothing);
  }

  private Disk faulty(Disk disk, boolean writesNothing) {
    return new FaultyDisk(disk) {
      @Override
      public DiskFile create(String name) throws IOException {
        fail(name, "create");
        return super.create(name);
      }

      @Override
      protected void write(DiskFile file, long at, ByteBuffer... from) throws IOException {
        if (fails(file.name())) {
          super.write(file, at, from[0].slice().limit(random.nextInt(from[0].remaining())));
          throw new IOException("a write fails");
        }
        if (writesNothing && file.name().startsWith("overflow/")) {
          super.write(file, at, ByteBuffer.allocate(from[0].remaining()));
        } else {
          super.write(file, at, from);
        }
      }

      @Override
      protected int read(DiskFile file, long at, ByteBuffer into) throws IOException {
        fail(file.name(), "read");
        return super.read(file, at, into);
      }

      @Override
      public void delete(String name) throws IOException {
        fail(name, "deletion");
        super.delete(name);
      }

      private boolean fails(String name) {
        return faults && name.startsWith("overflow/") && random.nextInt(8) == 0;
      }

      private void fail(String name, String what) throws IOException {
        if (fails(name)) {
          deletionFailed |= what.equals("deletion");
          throw new IOException("a " + what + " of " + name + " fails");
        }
      }
    };
  }

  private static int order(String text) {
    return Integer.parseInt(text.substring(0, text.indexOf('-')));
  }

  /** Runs the history; how many messages were moved into files. */
  long run() throws IOException {
    h.open();
    peer = h.attach(link, 1, 1, null);
    peer.onReceived = message -> readers.get(message.consumerId() - 1).received(message);
    peer.onReceipt = this::answered;
    DestinationName queue = new DestinationName(DestinationKind.QUEUE, "q");
    DestinationName topic = new DestinationName(DestinationKind.TOPIC, "t");
    destinations[0] = h.producer(peer, queue);
    destinations[1] = h.producer(peer, topic);
    h.consumer(peer, 1, queue, Subscribe.QUEUE, null);
    for (int id = 2; id <= 4; id++) {
      h.consumer(peer, id, topic, Subscribe.PLAIN, null);
    }
    h.loops.delay("overflow", random.nextInt(2_000_000));
    faults = random.nextBoolean();
    int steps = 100 + random.nextInt(200);
    for (int i = 0; i < steps; i++) {
      step();
      look();
    }
    faults = false;
    finish();
    long moved = h.broker.metrics().overflow().movedMessages();
    h.close();
    return moved;
  }

  private void step() {
    int what = random.nextInt(100);
    if (what < 45) {
      publish();
    } else if (what < 65) {
      // The last one reads nothing before the end.
      pull(readers.get(random.nextInt(3)));
    } else if (what < 85) {
      settle(readers.get(random.nextInt(3)), random.nextInt(4) > 0);
    } else if (what < 90) {
      h.loops.advance(random.nextInt(1_500_000_000));
    }
    if (random.nextInt(6) == 0) {
      h.loops.runUntilIdle();
    }
    for (int n = random.nextInt(20); n > 0 && h.loops.step(); n--) {
      look();
    }
  }

  private void look() {
    if (h.broker.failure().isDone() || !peer.disconnects.isEmpty()) {
      throw new AssertionError(peer.disconnects + ", " + h.broker.failure());
    }
  }

  private void publish() {
    int topic = random.nextInt(3) == 0 ? 0 : 1;
    String[] texts = new String[1 + random.nextInt(4)];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = order++ + "-" + "x".repeat(random.nextInt(random.nextInt(5) == 0 ? 900 : 150));
    }
    sent.get(topic).addAll(List.of(texts));
    boolean persistent = random.nextInt(4) == 0;
    List<BrokerHarness.Sample> samples = new ArrayList<>();
    for (String text : texts) {
      samples.add(new BrokerHarness.Sample(order(text) % PRIORITIES, text));
    }
    int c = h.nextCorrelation();
    unanswered.put(c, List.of(texts));
    h.broker.submit(
        new Command.Publish(
            peer,
            c,
            destinations[topic],
            persistent ? ++number : 0,
            texts.length,
            h.bytes(persistent, 0, samples)));
  }

  private void answered(FakePeer.Receipt receipt) {
    List<String> texts = unanswered.remove(receipt.correlation());
    if (receipt.code() == FaultCode.MEMORY_FULL) {
      refused.addAll(texts);
      sent.forEach(each -> each.removeAll(texts));
    } else if (receipt.code() != FaultCode.OK) {
      throw new AssertionError(receipt.toString());
    }
  }

  private void pull(Reader reader) {
    h.broker.submit(
        new Command.Pull(
            peer,
            reader.id,
            h.nextCorrelation(),
            1 + random.nextInt(20),
            1 + random.nextInt(6_000),
            random.nextBoolean() ? 0 : 40));
  }

  /** Acknowledges some of what a reader holds, or gives it back. */
  private void settle(Reader reader, boolean acknowledge) {
    List<Received> some = new ArrayList<>();
    for (Received each : reader.held) {
      if (random.nextInt(3) > 0) {
        some.add(each);
      }
    }
    if (some.isEmpty()) {
      return;
    }
    reader.held.removeAll(some);
    List<SequenceRange> ranges = some.stream().map(Received::range).toList();
    List<Command.Acked> acked =
        List.of(new Command.Acked(reader.id, destinations[reader.topic], ranges));
    if (acknowledge) {
      some.forEach(each -> reader.done.add(each.text()));
      h.broker.submit(new Command.Acknowledge(peer, 0, acked));
    } else {
      h.broker.submit(new Command.Return(peer, 0, acked, true));
    }
  }

  private void finish() {
    h.loops.advance(20_000_000_000L);
    look();
    if (!unanswered.isEmpty()) {
      throw new AssertionError("without an answer: " + unanswered);
    }
    for (Reader reader : readers) {
      do {
        while (!reader.held.isEmpty()) {
          settle(reader, true);
        }
        h.loops.runUntilIdle();
      } while (!h.pull(peer, reader.id, 50).isEmpty());
      if (!reader.done.equals(sent.get(reader.topic))) {
        Set<String> missing = new HashSet<>(sent.get(reader.topic));
        missing.removeAll(reader.done);
        throw new AssertionError("reader " + reader.id + " never got " + missing);
      }
    }
    h.loops.advance(2_000_000_000L);
    BrokerMetrics metrics = h.broker.metrics();
    long memory = metrics.directByPurpose().getOrDefault("volatile messages", 0L);
    // A file whose deletion failed goes with the next one, or at the next start.
    boolean fileLeft = !deletionFailed && !h.disk.list("overflow").isEmpty();
    if (fileLeft || metrics.overflow().files() > 0 || memory > 0) {
      throw new AssertionError(
          metrics.overflow() + " and " + memory + " bytes are left, " + h.disk.list("overflow"));
    }
    if (peer.openBuffers != 0) {
      throw new AssertionError(peer.openBuffers + " buffers are left");
    }
  }
}
