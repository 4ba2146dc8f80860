package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.sim.PairedLog;
import io.lightmq.core.sim.SimulatedLoops;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A broker that leads and follows, again and again. */
class RolesTest {
  private static final long MILLI = 1_000_000;
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final DestinationName POISON =
      new DestinationName(DestinationKind.QUEUE, "poison.q");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "t");

  @Test
  void aBrokerThatDoesNotLeadSendsItsClientsAway() throws IOException {
    SimulatedLoops loops = new SimulatedLoops(1);
    PairedNode node = new PairedNode(1, loops, new PairedLog(1));
    assertThat(node.life()).isEqualTo(Life.FOLLOWING);
    FakePeer early = node.words.newPeer();
    node.words.broker.submit(new Command.Attach(early, 1, new UUID(1, 1), 1, 1, null));
    loops.advance(MILLI);
    assertThat(early.disconnects).singleElement().asString().contains("CLOSING", "does not lead");

    node.lead();
    FakePeer peer = node.words.attach();
    node.member.resign();
    loops.advance(MILLI);
    assertThat(node.life()).isEqualTo(Life.FOLLOWING);
    assertThat(peer.disconnects).singleElement().asString().contains("CLOSING", "does not lead");
  }

  @Test
  void anOwnerThatIsDroppedLeavesNothingBehindButWhatIsInRecords() throws IOException {
    int builtAgain = 0;
    long unlogged = 0;
    int inFlight = 0;
    for (long seed = 0; seed < 12; seed++) {
      SimulatedLoops loops = new SimulatedLoops(seed);
      PairedNode node = new PairedNode(seed, loops, new PairedLog(seed));
      Random random = new Random(seed);
      Traffic traffic = new Traffic(node, random);
      Set<String> loopsBefore = Set.copyOf(loops.names());
      for (int round = 0; round < 8; round++) {
        node.lead();
        traffic.some();
        unlogged += node.words.broker.memory().getOrDefault("unlogged messages", 0L);
        inFlight += traffic.received();
        if (random.nextBoolean()) {
          node.member.resign();
        } else {
          node.member.held = true;
          traffic.some();
          int pending = node.member.pending();
          builtAgain += pending > 0 ? 1 : 0;
          node.member.lose(random.nextInt(pending + 1), random.nextBoolean());
          node.member.held = false;
        }
        loops.runUntilIdle();
        assertThat(loops.timers("shard")).as("seed %s: the tick alone", seed).isEqualTo(1);
        loops.advance(50 * MILLI);
        assertThat(node.life()).isEqualTo(Life.FOLLOWING);
        traffic.assertDismissed();
        Map<String, Long> memory = node.words.broker.memory();
        assertThat(memory.getOrDefault("unlogged messages", 0L)).as("seed %s", seed).isZero();
        assertThat(memory.getOrDefault("journal reads", 0L)).as("seed %s", seed).isZero();
        assertThat(memory.getOrDefault("segments", 0L)).as("seed %s: %s", seed, memory).isZero();
        assertThat(loops.timers("shard")).as("seed %s: the tick alone", seed).isEqualTo(1);
        assertThat(loops.timers("read") + loops.timers("match")).isZero();
        assertThat(Set.copyOf(loops.names())).isEqualTo(loopsBefore);
        assertThat(node.words.releasedBytes).as("seed %s", seed).isEqualTo(traffic.givenBytes);
      }
      node.lead();
      traffic.assertNothingIsLost();
    }
    assertThat(builtAgain).as("with batches under way").isGreaterThan(10);
    assertThat(unlogged).isPositive();
    assertThat(inFlight).isGreaterThan(100);
  }

  @Test
  void whatIsKeptOfAStateIsWhatARestartFinds() throws IOException {
    for (long seed = 0; seed < 20; seed++) {
      SimulatedLoops loops = new SimulatedLoops(seed);
      PairedNode node = new PairedNode(seed, loops, new PairedLog(seed));
      Traffic traffic = new Traffic(node, new Random(seed));
      node.lead();
      traffic.deliveriesCount = false;
      traffic.some();
      node.member.resign();
      loops.advance(50 * MILLI);
      List<ByteBuffer> kept = node.state();
      StatePicture whole = StatePicture.of(node.words.broker.state(), 0);
      long places = node.words.broker.state().destinations().offHeapBytes();
      node.log.leave(node.member);
      node.start();
      assertThat(node.state()).as("seed %s", seed).isEqualTo(kept);
      assertThat(whole.firstDifference(StatePicture.of(node.words.broker.state(), 0)))
          .as("seed %s", seed)
          .isNull();
      assertThat(places)
          .as("seed %s: what places take outside the heap", seed)
          .isEqualTo(node.words.broker.state().destinations().offHeapBytes());
    }
  }

  @Test
  void aFollowerAppliesWhatIsCommittedAndTakesOver() throws IOException {
    for (long seed = 0; seed < 12; seed++) {
      SimulatedLoops loops = new SimulatedLoops(seed);
      PairedLog log = new PairedLog(seed);
      PairedNode one = new PairedNode(seed, loops, log);
      PairedNode two = new PairedNode(seed + 1_000, loops, log);
      one.lead();
      Traffic traffic = new Traffic(one, new Random(seed));
      traffic.deliveriesCount = false;
      traffic.some();
      two.member.lags = true;
      traffic.some();
      two.member.catchUp();
      loops.advance(50 * MILLI);
      one.member.resign();
      loops.advance(50 * MILLI);
      assertThat(two.state()).as("seed %s", seed).isEqualTo(one.state());
      two.lead();
      traffic.goTo(two);
      traffic.some();
      traffic.assertNothingIsLost();
      loops.advance(50 * MILLI);
      assertThat(one.life()).isEqualTo(Life.FOLLOWING);
    }
  }

  @Test
  void aFollowerMakesCheckpointsAndAppendsNothing() throws IOException {
    SimulatedLoops loops = new SimulatedLoops(5);
    PairedLog log = new PairedLog(5);
    PairedNode one = new PairedNode(5, loops, log);
    PairedNode two = new PairedNode(6, loops, log);
    one.lead();
    FakePeer peer = one.words.attach();
    long queue = one.words.producer(peer, QUEUE);
    for (int i = 1; i <= 20; i++) {
      assertThat(one.words.receipt(peer, one.words.publish(peer, queue, i, "text " + i)))
          .isEqualTo(FaultCode.OK);
    }
    loops.advance(50 * MILLI);
    long before = log.committed();
    two.words.broker.wantCheckpoint();
    loops.advance(50 * MILLI);
    assertThat(two.words.broker.newestCheckpoint()).isEqualTo(before);
    two.words.broker.wantCheckpoint();
    loops.advance(50 * MILLI);
    assertThat(two.words.broker.newestCheckpoint()).isEqualTo(before);
    assertThat(log.committed()).isEqualTo(before);

    log.leave(two.member);
    two.start();
    assertThat(two.state()).isEqualTo(one.state());
    one.member.resign();
    loops.advance(50 * MILLI);
    long end = log.committed();
    one.words.broker.wantCheckpoint();
    loops.advance(50 * MILLI);
    one.words.broker.wantCheckpoint();
    loops.advance(50 * MILLI);
    assertThat(one.words.broker.newestCheckpoint()).as("who has led").isEqualTo(end);
    assertThat(log.committed()).isEqualTo(end);
    two.lead();
    FakePeer other = two.words.attach();
    two.words.consumer(other, 1, QUEUE, Command.Subscribe.QUEUE, null);
    Set<String> all = new HashSet<>();
    while (all.size() < 20) {
      two.words.pull(other, 1, 20).forEach(each -> all.add(each.text()));
    }
  }

  @Test
  void withoutALeaseNothingIsGivenAndNoPullIsAnswered() throws IOException {
    SimulatedLoops loops = new SimulatedLoops(7);
    PairedNode node = new PairedNode(7, loops, new PairedLog(7)).lead();
    FakePeer peer = node.words.attach();
    long queue = node.words.producer(peer, QUEUE);
    node.words.consumer(peer, 1, QUEUE, Command.Subscribe.QUEUE, null);
    node.words.consumer(peer, 2, TOPIC, Command.Subscribe.PLAIN, null);
    node.member.leaseNanos = loops.clock().nanos();
    assertThat(node.words.receipt(peer, node.words.publish(peer, queue, 1, "one")))
        .isEqualTo(FaultCode.OK);
    node.words.broker.submit(new Command.Pull(peer, 1, 90, 10, 1 << 20, 0));
    node.words.broker.submit(new Command.Pull(peer, 2, 91, 10, 1 << 20, 20));
    loops.advance(200 * MILLI);
    assertThat(peer.received).isEmpty();
    assertThat(peer.pullsDone).isEmpty();
    node.member.leaseNanos = Long.MAX_VALUE;
    loops.advance(200 * MILLI);
    assertThat(peer.received).extracting(FakePeer.Received::text).containsExactly("one");
    assertThat(peer.pullsDone).singleElement().asString().startsWith("2/91/OK");
  }

  @Test
  void whatComesBetweenTwoOwnersIsOfTheNextOne() throws IOException {
    int without = 0;
    for (long seed = 0; seed < 60; seed++) {
      SimulatedLoops loops = new SimulatedLoops(seed);
      PairedNode node = new PairedNode(seed, loops, new PairedLog(seed)).lead();
      FakePeer peer = node.words.attach();
      long queue = node.words.producer(peer, QUEUE);
      loops.advance(10 * MILLI);
      for (int i = 0; i < 300; i++) {
        node.words.publish(peer, queue, 0, "x"); // more than a turn takes: it goes on in the next
      }
      node.member.resign();
      node.member.lead();
      loops.step();
      without += node.life() == Life.FOLLOWING ? 1 : 0;
      FakePeer late = node.words.newPeer();
      node.words.broker.submit(new Command.Attach(late, 9_999, new UUID(9, 9), 1, 1, null));
      loops.stepLimit(50_000);
      loops.advance(50 * MILLI);
      assertThat(node.life()).as("seed %s", seed).isEqualTo(Life.LEADING);
      assertThat(late.replies.containsKey(9_999) || !late.disconnects.isEmpty())
          .as("seed %s: an answer, or the end of the connection", seed)
          .isTrue();
      FakePeer fresh = node.words.attach();
      long again = node.words.producer(fresh, QUEUE);
      assertThat(node.words.receipt(fresh, node.words.publish(fresh, again, 1, "one")))
          .as("seed %s", seed)
          .isEqualTo(FaultCode.OK);
      loops.advance(5_000 * MILLI);
    }
    assertThat(without).as("with what came before the next owner").isPositive();
  }

  @Test
  void anEpochWhoseRecordIsLostIsShownByNobodyAndBeginsElsewhere() throws IOException {
    SimulatedLoops loops = new SimulatedLoops(8);
    PairedLog log = new PairedLog(8);
    PairedNode one = new PairedNode(8, loops, log);
    PairedNode two = new PairedNode(9, loops, log);
    one.lead();
    long before = one.words.broker.epoch();
    one.member.resign();
    loops.advance(50 * MILLI);
    one.member.held = true;
    one.member.lead();
    loops.advance(50 * MILLI);
    assertThat(one.life()).isEqualTo(Life.LEADING);
    assertThat(one.words.broker.state().epoch()).isEqualTo(before + 1);
    assertThat(one.words.broker.epoch()).as("not durable").isEqualTo(before);
    one.member.lose(0, true);
    loops.advance(50 * MILLI);
    two.lead();
    assertThat(two.words.broker.epoch()).isEqualTo(before + 1);
    assertThat(one.words.broker.epoch()).isEqualTo(before);
  }

  @Test
  void whatIsAppendedBeforeAShardHearsThatItLeadsNoMoreIsThrownAway() throws IOException {
    int late = 0;
    for (long seed = 0; seed < 30; seed++) {
      SimulatedLoops loops = new SimulatedLoops(seed);
      PairedLog log = new PairedLog(seed);
      PairedNode one = new PairedNode(seed, loops, log);
      PairedNode two = new PairedNode(seed + 1_000, loops, log);
      one.lead();
      FakePeer peer = one.words.attach();
      long queue = one.words.producer(peer, QUEUE);
      one.words.receipt(peer, one.words.publish(peer, queue, 1, "one"));
      loops.advance(50 * MILLI);
      one.words.publish(peer, queue, 2, "two");
      assertThat(one.member.lose(0, true)).isZero();
      while (one.life() == Life.LEADING) {
        loops.step();
      }
      late += one.life() == Life.RECOVERING ? 1 : 0;
      loops.advance(50 * MILLI);
      assertThat(one.words.broker.applied()).as("seed %s", seed).isEqualTo(log.committed());
      assertThat(one.state()).as("seed %s", seed).isEqualTo(two.state());
      one.lead();
      FakePeer other = one.words.attach();
      one.words.consumer(other, 1, QUEUE, Command.Subscribe.QUEUE, null);
      assertThat(one.words.pull(other, 1, 10))
          .extracting(FakePeer.Received::text)
          .as("seed %s", seed)
          .containsExactly("one");
    }
    assertThat(late).as("with something applied that was refused").isBetween(5, 30);
  }

  /** What an owner sets a timer for, besides the tick of its shard. */
  private enum Timed {
    PULL {
      @Override
      void set(PairedNode node, FakePeer peer, long queue) {
        node.words.broker.submit(new Command.Pull(peer, 1, 90, 10, 1 << 20, 3_600_000));
        node.words.loops.runUntilIdle();
      }
    },
    DELAY {
      @Override
      void set(PairedNode node, FakePeer peer, long queue) {
        Command.Bytes later = node.words.bytes(true, 0, 3_600_000, "later");
        node.words.broker.submit(new Command.Publish(peer, 91, queue, 1, 1, later));
        node.words.receipt(peer, 91);
      }
    },
    FORCE {
      @Override
      void set(PairedNode node, FakePeer peer, long queue) {
        node.words.admin(
            "destination.create", Map.of("kind", "queue", "name", "balanced", "tier", "balanced"));
        long to = node.words.producer(peer, new DestinationName(DestinationKind.QUEUE, "balanced"));
        node.words.receipt(peer, node.words.publish(peer, to, 1, "soon forced"));
      }
    },
    LEASE {
      @Override
      void set(PairedNode node, FakePeer peer, long queue) {
        node.words.receipt(peer, node.words.publish(peer, queue, 1, "not given"));
        node.member.leaseNanos = node.words.loops.clock().nanos();
        node.words.broker.submit(new Command.Pull(peer, 1, 92, 10, 1 << 20, 0));
        node.words.loops.runUntilIdle();
      }
    };

    abstract void set(PairedNode node, FakePeer peer, long queue);
  }

  @Test
  void everyTimerOfAnOwnerGoesWithIt() throws IOException {
    for (Timed timed : Timed.values()) {
      for (boolean lost : new boolean[] {false, true}) {
        SimulatedLoops loops = new SimulatedLoops(10);
        PairedNode node = new PairedNode(10, loops, new PairedLog(10)).lead();
        FakePeer peer = node.words.attach();
        long queue = node.words.producer(peer, QUEUE);
        node.words.consumer(peer, 1, QUEUE, Command.Subscribe.QUEUE, null);
        FakePeer other = node.words.attach();
        node.words.producer(other, QUEUE);
        assertThat(loops.timers("shard")).as("the tick").isEqualTo(1);
        timed.set(node, peer, queue);
        assertThat(loops.timers("shard")).as("%s", timed).isEqualTo(2);
        if (lost) {
          node.member.held = true;
          node.words.publish(other, queue, 1, "under way");
          loops.runUntilIdle();
          assertThat(node.member.pending()).isPositive();
          node.member.lose(0, true);
        } else {
          node.member.resign();
        }
        loops.runUntilIdle();
        assertThat(node.life()).isEqualTo(Life.FOLLOWING);
        assertThat(loops.timers("shard")).as("the tick alone behind %s", timed).isEqualTo(1);
      }
    }
  }

  @Test
  void temporaryDestinationsGoWithTheirOwner() throws IOException {
    SimulatedLoops loops = new SimulatedLoops(11);
    PairedNode node = new PairedNode(11, loops, new PairedLog(11));
    for (int round = 0; round < 4; round++) {
      node.lead();
      BrokerHarness words = node.words;
      FakePeer other = words.attach();
      long queue = words.producer(other, QUEUE);
      FakePeer peer = words.attach();
      long before = places(node);
      for (int i = 0; i < 3; i++) {
        int c = words.nextCorrelation();
        words.broker.submit(
            new Command.CreateTemporary(peer, c, DestinationKind.TEMPORARY_QUEUE, i + 1));
        var made = (Peer.Reply.TemporaryCreated) words.reply(peer, c);
        long id = words.producer(peer, made.destination());
        words.consumer(peer, 10 + i, made.destination(), Command.Subscribe.QUEUE, null);
        words.receipt(peer, words.publish(peer, id, 0, "a", "b", "c"));
        FakePeer.Received first = words.pull(peer, 10 + i, 1).get(0);
        words.acknowledge(peer, 10 + i, id, new SequenceRange(first.lane(), first.sequence(), 1));
      }
      assertThat(temporaries(node)).isEqualTo(3);
      assertThat(places(node)).as("what they take").isGreaterThan(before);
      if (round >= 2) {
        words.broker.submit(new Command.Detach(peer, false));
        loops.runUntilIdle();
        assertThat(temporaries(node)).as("they wait for their client").isEqualTo(3);
      }
      node.member.held = round % 2 == 1;
      if (node.member.held) {
        words.publish(other, queue, 1, "under way");
        loops.runUntilIdle();
        node.member.lose(0, true);
        node.member.held = false;
      } else {
        node.member.resign();
      }
      loops.advance(50 * MILLI);
      assertThat(node.life()).isEqualTo(Life.FOLLOWING);
      assertThat(temporaries(node)).as("round %s", round).isZero();
      assertThat(places(node)).as("round %s", round).isZero();
      assertThat(node.words.broker.memory().getOrDefault("unlogged messages", 0L)).isZero();
    }
  }

  private static long temporaries(PairedNode node) {
    return node.words.broker.state().destinations().all().stream()
        .filter(each -> each.kind().isTemporary())
        .count();
  }

  private static long places(PairedNode node) {
    return node.words.broker.memory().getOrDefault("destinations", 0L);
  }

  /** Clients who do a little of everything. */
  private static final class Traffic {
    private final Random random;
    private final Set<String> confirmed = new HashSet<>();
    private final Set<String> acknowledged = new HashSet<>();
    private final List<FakePeer> peers = new ArrayList<>();
    private PairedNode node;
    private int links;
    private int messages;
    int givenBytes;
    boolean deliveriesCount = true;

    Traffic(PairedNode node, Random random) {
      this.node = node;
      this.random = random;
    }

    void goTo(PairedNode other) {
      node = other;
    }

    private void run(int millis) {
      node.words.loops.advance(millis * MILLI);
    }

    private long destination(FakePeer peer, DestinationName name) {
      int c = node.words.nextCorrelation();
      node.words.broker.submit(new Command.AttachProducer(peer, c, name, true));
      run(20);
      return peer.replies.get(c) instanceof Peer.Reply.ProducerAttached attached
          ? attached.destinationId()
          : 0;
    }

    void some() {
      BrokerHarness words = node.words;
      FakePeer peer = words.newPeer();
      peers.add(peer);
      words.broker.submit(
          new Command.Attach(peer, words.nextCorrelation(), new UUID(3, ++links), 1, 1, null));
      run(20);
      long queue = destination(peer, QUEUE);
      long poison = destination(peer, POISON);
      long topic = destination(peer, TOPIC);
      consumer(peer, 1, QUEUE, Command.Subscribe.QUEUE);
      consumer(peer, 2, POISON, Command.Subscribe.QUEUE);
      consumer(peer, 3, TOPIC, Command.Subscribe.PLAIN);
      words.broker.submit(
          new Command.CreateTemporary(
              peer, words.nextCorrelation(), DestinationKind.TEMPORARY_QUEUE, 0));
      run(20);
      long number = 0;
      for (int i = 0; i < 30 && queue > 0 && poison > 0 && topic > 0; i++) {
        switch (random.nextInt(6)) {
          case 0 -> publish(peer, queue, ++number, true, 0);
          case 1 -> publish(peer, poison, ++number, true, 0);
          case 2 -> publish(peer, queue, ++number, true, random.nextInt(3) * 3_600_000L + 30);
          case 3 -> publish(peer, topic, 0, false, 0);
          case 4 -> publish(peer, queue, 0, false, 0);
          default -> pull(peer, 1 + random.nextInt(3), queue);
        }
        run(random.nextInt(4));
      }
    }

    private void consumer(
        FakePeer peer, int id, DestinationName name, Command.Subscribe subscribe) {
      node.words.broker.submit(
          new Command.AttachConsumer(
              peer,
              node.words.nextCorrelation(),
              id,
              1,
              name,
              subscribe,
              null,
              null,
              false,
              false,
              true));
    }

    private void publish(
        FakePeer peer, long destination, long number, boolean persistent, long delayMillis) {
      String text = "m" + messages++;
      int c = node.words.nextCorrelation();
      Command.Bytes bytes = node.words.bytes(persistent, 0, delayMillis, text);
      givenBytes += bytes.buffer().limit();
      var before = peer.onReceipt;
      if (persistent) {
        peer.onReceipt =
            receipt -> {
              before.accept(receipt);
              if (receipt.correlation() == c && receipt.code() == FaultCode.OK) {
                confirmed.add(text);
              }
            };
      }
      node.words.broker.submit(new Command.Publish(peer, c, destination, number, 1, bytes));
    }

    private void pull(FakePeer peer, int consumer, long queue) {
      if (!deliveriesCount) {
        return;
      }
      int before = peer.received.size();
      node.words.broker.submit(
          new Command.Pull(peer, consumer, node.words.nextCorrelation(), 5, 1 << 20, 1_000));
      run(3);
      if (consumer == 1 && random.nextBoolean()) {
        for (FakePeer.Received each :
            List.copyOf(peer.received.subList(before, peer.received.size()))) {
          acknowledged.add(each.text()); // that may be lost, or not
          node.words.broker.submit(
              new Command.Acknowledge(
                  peer,
                  0,
                  List.of(
                      new Command.Acked(
                          1, queue, List.of(new SequenceRange(each.lane(), each.sequence(), 1))))));
        }
      }
    }

    int received() {
      return peers.stream().mapToInt(peer -> peer.received.size()).sum();
    }

    void assertDismissed() {
      for (FakePeer peer : peers) {
        assertThat(peer.disconnects).isNotEmpty();
        assertThat(peer.openBuffers).isZero();
      }
      peers.clear();
    }

    /** All that was confirmed and not acknowledged can be had. */
    void assertNothingIsLost() {
      assertThat(confirmed).hasSizeGreaterThan(5);
      Set<String> left = new HashSet<>(confirmed);
      left.removeAll(acknowledged);
      node.words.loops.advance(3 * 3_600_000L * MILLI);
      FakePeer peer = node.words.attach(new UUID(4, ++links), 1, 1, null);
      node.words.consumer(peer, 1, QUEUE, Command.Subscribe.QUEUE, null);
      node.words.consumer(peer, 2, POISON, Command.Subscribe.QUEUE, null);
      for (int consumer = 1; consumer <= 2; consumer++) {
        while (!node.words.pull(peer, consumer, 100).isEmpty()) {
          // On with the next ones.
        }
      }
      peer.received.forEach(each -> left.remove(each.text()));
      assertThat(left).as("confirmed and not there").isEmpty();
    }
  }
}
