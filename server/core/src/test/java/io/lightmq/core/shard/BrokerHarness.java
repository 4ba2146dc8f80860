package io.lightmq.core.shard;

import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.intake.Landing;
import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.sim.SimulatedLoops;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.storage.journal.JournalSettings;
import io.lightmq.core.storage.segment.SegmentSettings;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageWriter;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A broker on simulated loops and a simulated disk, with short words for what clients do.
 * Registered as an extension of a test it is closed in order after each test, if it is open then.
 */
public final class BrokerHarness implements AfterEachCallback {
  final long seed;
  public final SimulatedDisk disk;
  public SimulatedLoops loops;

  /** What each look at the clock takes. */
  public long lookNanos;

  public Broker broker;
  public UnaryOperator<io.lightmq.core.storage.Disk> wrap = UnaryOperator.identity();
  ShardSeams seams = ShardSeams.PRODUCT;

  /** How {@link #replayedOtherwise} replays. */
  ReplayedState.Replay replay = ShardState::apply;

  public BrokerSettings settings = settings(64 << 10);
  int releasedBytes;
  private int correlation;
  private long connections;
  private int starts;
  private boolean open;

  /** How many groups messages are in; 0 for none. */
  int groups;

  /** Whether the clock goes on through restarts. */
  public boolean keepTime;

  /** How far the wall clock of the next start is from where it began. */
  public long wallShiftMillis;

  public BrokerHarness(long seed) {
    this.seed = seed;
    this.disk = new SimulatedDisk(seed);
  }

  private static final DestinationSettings UNLIMITED =
      DestinationSettings.DEFAULT.with(Map.of("max-attempts", "0"));

  static BrokerSettings settings(int journalFileBytes) {
    return settings(journalFileBytes, 1 << 17);
  }

  static BrokerSettings settings(int journalFileBytes, int windowBytes) {
    return settings(journalFileBytes, windowBytes, 1 << 20, 1 << 30);
  }

  public static BrokerSettings settings(
      int journalFileBytes, int windowBytes, long unloggedBytes, long overflowBytes) {
    return settings(journalFileBytes, windowBytes, unloggedBytes, overflowBytes, 0);
  }

  static BrokerSettings settings(
      int journalFileBytes,
      int windowBytes,
      long unloggedBytes,
      long overflowBytes,
      long minFreeBytes) {
    BrokerSettings otherwise = BrokerSettings.defaults();
    JournalSettings journal = JournalSettings.small(journalFileBytes);
    return new BrokerSettings(
        new BrokerSettings.DestinationDefaults(
            UNLIMITED,
            true,
            List.of(
                new BrokerSettings.DestinationRule(
                    "fast.*", UNLIMITED.with(Map.of("tier", "performance"))),
                new BrokerSettings.DestinationRule(
                    "poison.*", UNLIMITED.with(Map.of("max-attempts", "3"))))),
        otherwise.memory().withWindowBytes(windowBytes).withUnloggedBytes(unloggedBytes),
        otherwise
            .disk()
            .withBallastBytes(16 << 10)
            .withMinFreeBytes(minFreeBytes)
            .withOverflowBytes(overflowBytes),
        otherwise
            .limits()
            .withMaxMessageBytes(
                Math.min(8 << 10, BrokerSettings.longestMessage(windowBytes, journal)))
            .withMaxTransactionBytes(8 << 10),
        otherwise.intervals().withIdleReclaimMillis(5_000),
        journal,
        new SegmentSettings(64 << 10, 16 << 10, 4 << 10, 4 << 10, 1 << 20, 8, 64 << 10, 1 << 20));
  }

  /** Destinations are made by the administrator only. */
  void withoutCreation() {
    settings = settings.with(settings.destinations().withCreateOnFirstUse(false));
  }

  /** Checkpoints write segments otherwise. */
  void destaging(ShardSeams.DestagingMaker other) {
    seams = seams.with(other);
  }

  /** So many messages at least are touched ahead of those that are given out. */
  public void touchedAhead(int messages) {
    seams = seams.withTouchedAhead(messages);
  }

  /** Messages have another door. */
  void landings(Landing.Maker other) {
    seams = seams.with(other);
  }

  /** Several brokers, of which {@link #broker} is the one that leads; null for one alone. */
  public @Nullable PairedBrokers paired;

  private long pairedShiftMillis;

  /** Starts the broker and waits until it takes commands. */
  public BrokerHarness open() throws IOException {
    PairedBrokers several = paired;
    if (several != null) {
      if (loops == null) {
        loops = new SimulatedLoops(seed * 31);
        loops.simulatedClock().looksTake(lookNanos);
      }
      loops.simulatedClock().jumpWall(Math.max(0, wallShiftMillis - pairedShiftMillis));
      pairedShiftMillis = wallShiftMillis;
      broker = several.open(this);
      return this;
    }
    long passed = loops == null || !keepTime ? 0 : loops.clock().nanos();
    loops = new SimulatedLoops(seed * 31 + starts++);
    loops.simulatedClock().advance(passed);
    loops.simulatedClock().jumpWall(wallShiftMillis);
    loops.simulatedClock().looksTake(lookNanos);
    broker = Broker.begin(settings, wrap.apply(disk), loops, seams);
    loops.runUntil(() -> broker.ready().isDone());
    broker.ready().join();
    open = true;
    return this;
  }

  /**
   * What a state that is made of the disk alone has otherwise than the broker's, which has written
   * all; null if nothing.
   */
  public @Nullable String replayedOtherwise() throws IOException {
    if (paired != null) {
      return paired.differs();
    }
    ReplayedState replayed = ReplayedState.of(disk.copy(seed), settings, replay);
    return StatePicture.of(broker.state(), replayed.fromOffset())
        .firstDifference(StatePicture.of(replayed.state(), replayed.fromOffset()));
  }

  /** Whether all that the broker has recorded is written. */
  public boolean isWritten() {
    return broker.isWritten();
  }

  /** Asks for a checkpoint soon. */
  public void checkpoint() {
    if (paired != null) {
      paired.checkpoint();
      return;
    }
    broker.wantCheckpoint();
  }

  /** Ends the process, or cuts the power. */
  public void crash(boolean power) {
    if (paired != null) {
      paired.crash(this, power);
      return;
    }
    open = false;
    loops.crash();
    if (power) {
      disk.crash();
    } else {
      disk.kill();
    }
  }

  @Override
  public void afterEach(ExtensionContext context) throws IOException {
    if (open) {
      close();
    }
  }

  /** Closes in order. */
  public void close() throws IOException {
    if (paired != null) {
      paired.stepDown(this);
      return;
    }
    open = false;
    var stopped = broker.stop();
    loops.runUntil(stopped::isDone);
    broker.finish();
    loops.close();
    disk.kill();
  }

  public int nextCorrelation() {
    return ++correlation;
  }

  FakePeer newPeer() {
    return new FakePeer((broker.epoch() << 32) | ++connections);
  }

  FakePeer attach(UUID link, long linkEpoch, long answersFrom, String clientId) {
    FakePeer peer = newPeer();
    int c = nextCorrelation();
    broker.submit(new Command.Attach(peer, c, link, linkEpoch, answersFrom, clientId));
    Peer.Reply reply = reply(peer, c);
    if (!(reply instanceof Peer.Reply.Attached)) {
      throw new AssertionError("attach was answered " + reply);
    }
    return peer;
  }

  FakePeer attach() {
    return attach(new UUID(seed, nextCorrelation()), 1, 1, null);
  }

  Peer.Reply reply(FakePeer peer, int c) {
    loops.runUntil(() -> peer.replies.containsKey(c) || !peer.disconnects.isEmpty());
    Peer.Reply reply = peer.replies.get(c);
    if (reply == null) {
      throw new AssertionError("disconnected: " + peer.disconnects);
    }
    return reply;
  }

  long producer(FakePeer peer, DestinationName name) {
    int c = nextCorrelation();
    broker.submit(new Command.AttachProducer(peer, c, name, true));
    return ((Peer.Reply.ProducerAttached) reply(peer, c)).destinationId();
  }

  Peer.Reply tryConsumer(
      FakePeer peer, int id, DestinationName name, Command.Subscribe subscribe, String named) {
    return tryConsumer(peer, id, name, subscribe, named, null, false);
  }

  Peer.Reply tryConsumer(
      FakePeer peer,
      int id,
      DestinationName name,
      Command.Subscribe subscribe,
      String named,
      String selector,
      boolean noAcknowledge) {
    int c = nextCorrelation();
    broker.submit(
        new Command.AttachConsumer(
            peer, c, id, 1, name, subscribe, named, selector, false, noAcknowledge, true));
    return reply(peer, c);
  }

  long consumer(
      FakePeer peer, int id, DestinationName name, Command.Subscribe subscribe, String named) {
    Peer.Reply reply = tryConsumer(peer, id, name, subscribe, named);
    if (reply instanceof Peer.Reply.ConsumerAttached attached) {
      return attached.destinationId();
    }
    throw new AssertionError("consumer was answered " + reply);
  }

  int publish(FakePeer peer, long destination, long number, String... texts) {
    int c = nextCorrelation();
    broker.submit(
        new Command.Publish(
            peer, c, destination, number, texts.length, bytes(number > 0, 0, texts)));
    return c;
  }

  FaultCode receipt(FakePeer peer, int c) {
    loops.runUntil(() -> find(peer, c) != null || !peer.disconnects.isEmpty());
    FakePeer.Receipt receipt = find(peer, c);
    if (receipt == null) {
      throw new AssertionError("disconnected: " + peer.disconnects);
    }
    return receipt.code();
  }

  static FakePeer.Receipt find(FakePeer peer, int c) {
    for (FakePeer.Receipt receipt : peer.receipts) {
      if (receipt.correlation() == c) {
        return receipt;
      }
    }
    return null;
  }

  List<FakePeer.Received> pull(FakePeer peer, int consumer, int messages) {
    int before = peer.received.size();
    int ended = peer.pullsDone.size();
    broker.submit(new Command.Pull(peer, consumer, nextCorrelation(), messages, 1 << 20, 0));
    loops.runUntil(() -> peer.received.size() > before || peer.pullsDone.size() > ended);
    return List.copyOf(peer.received.subList(before, peer.received.size()));
  }

  /** Pulls a browser that is open until its look is over. */
  List<FakePeer.Received> browse(FakePeer peer, int browser, int messages, int bytes) {
    int before = peer.received.size();
    while (true) {
      int answered = peer.received.size() + peer.pullsDone.size();
      int pull = nextCorrelation();
      broker.submit(new Command.Pull(peer, browser, pull, messages, bytes, 0));
      loops.runUntil(() -> peer.received.size() + peer.pullsDone.size() > answered);
      if (peer.pullsDone.contains(browser + "/" + pull + "/" + FaultCode.OK)) {
        return List.copyOf(peer.received.subList(before, peer.received.size()));
      }
    }
  }

  Peer.Reply acknowledge(FakePeer peer, int consumer, long destination, SequenceRange... ranges) {
    int c = nextCorrelation();
    broker.submit(
        new Command.Acknowledge(
            peer, c, List.of(new Command.Acked(consumer, destination, List.of(ranges)))));
    return reply(peer, c);
  }

  String admin(String verb, Map<String, String> arguments) {
    FakePeer peer = newPeer();
    int c = nextCorrelation();
    broker.submit(new Command.Admin(peer, c, verb, arguments));
    Peer.Reply reply = reply(peer, c);
    return reply instanceof Peer.Reply.Json json ? json.json() : reply.toString();
  }

  /** A message of a run. */
  record Sample(int priority, String text) {}

  Command.Bytes bytes(boolean persistent, long timeToLive, String... texts) {
    return bytes(persistent, timeToLive, 0, texts);
  }

  Command.Bytes bytes(boolean persistent, long timeToLive, long delayMillis, String... texts) {
    return bytes(
        persistent,
        timeToLive,
        delayMillis,
        Arrays.stream(texts).map(text -> new Sample(4, text)).toList());
  }

  Command.Bytes bytes(boolean persistent, long timeToLive, List<Sample> samples) {
    return bytes(persistent, timeToLive, 0, samples);
  }

  private Command.Bytes bytes(
      boolean persistent, long timeToLive, long delayMillis, List<Sample> samples) {
    ByteBuffer all = ByteBuffer.allocate(1 << 16);
    for (Sample sample : samples) {
      ByteBuffer message = message(persistent, timeToLive, delayMillis, sample);
      all.putInt(message.remaining()).put(message);
    }
    return bytes(all.flip());
  }

  public Command.Bytes bytes(ByteBuffer all) {
    return new Command.Bytes() {
      private boolean released;

      @Override
      public ByteBuffer buffer() {
        if (released) {
          throw new AssertionError("released bytes are used");
        }
        return all;
      }

      @Override
      public void release() {
        if (released) {
          throw new AssertionError("bytes are released twice");
        }
        released = true;
        releasedBytes += all.limit();
      }
    };
  }

  private ByteBuffer message(boolean persistent, long timeToLive, long delayMillis, Sample sample) {
    MessageWriter writer = new MessageWriter(1 << 16);
    writer
        .start(
            io.lightmq.wire.entry.BodyType.TEXT,
            sample.priority(),
            persistent,
            timeToLive,
            delayMillis)
        .correlationId("k" + sample.text().length() % 7)
        .properties(properties(sample.text()))
        .textBody(sample.text())
        .finish();
    return ByteBuffer.wrap(writer.toByteArray());
  }

  /** A text "KEY#REST" has a property "key"; two of three are in one of so many groups, if any. */
  private Map<String, Object> properties(String text) {
    Map<String, Object> properties = new HashMap<>(Map.of("n", text.length() % 7));
    int mark = text.indexOf('#');
    if (mark >= 0) {
      properties.put("key", text.substring(0, mark));
    }
    int group = groups == 0 ? 0 : Math.floorMod(text.hashCode(), groups * 3 / 2);
    if (group < groups) {
      properties.put("JMSXGroupID", "g" + group);
      if (text.length() % 29 == 0) {
        properties.put("JMSXGroupSeq", -1);
      }
    }
    return properties;
  }
}
