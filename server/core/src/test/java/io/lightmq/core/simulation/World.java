package io.lightmq.core.simulation;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.BrokerHarness;
import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.sim.PowerCut;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.DiskFullException;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A broker with its disk, its time and its connections, all of which one seed decides. Whatever is
 * random is drawn from {@link #random}, which each step of a history sets anew: so that a step does
 * the same whichever steps were before.
 */
final class World {
  private static final int TOLD_LAST = 4_000;
  private static final long MOST_TURNS = 300_000;

  /** One step in so many is followed by a look at what a replay would give. */
  private static final int REPLAYED = 48;

  final long seed;
  final Set<Feature> features;
  final Plant plant;
  final Random random;
  final BrokerHarness harness;
  final Ledger ledger;

  /** Who looks at what has come after each turn of a loop. */
  Runnable look = () -> {};

  /** Whether files of the overflow fail now and then. */
  boolean overflowFails;

  /** Whether snapshots find no room, so that no checkpoint is made. */
  private boolean snapshotsFindNoRoom;

  private boolean deletionFailed;
  private boolean tells;
  private final ArrayDeque<String> told = new ArrayDeque<>();
  private final List<Long> latestWallMillis = new ArrayList<>();
  private long connections;
  private int ends;
  private int uncleanEnds;
  private int replays;

  World(long seed, Set<Feature> features, Plant plant) {
    this.seed = seed;
    this.features = features;
    this.plant = plant;
    this.random = new Random(mixed(seed, -1));
    this.harness = new BrokerHarness(seed);
    this.ledger = new Ledger(this);
    int[] fileBytes = {16 << 10, 20 << 10, 32 << 10, 64 << 10};
    BrokerSettings settings =
        BrokerHarness.settings(
            fileBytes[random.nextInt(fileBytes.length)],
            1 << (15 + random.nextInt(3)),
            4096L << random.nextInt(4),
            1 << 20);
    harness.settings = settings.with(settings.intervals().withTemporaryGraceMillis(1_000));
    // What is done in slices of a millisecond is cut after each step, after a few, or never.
    harness.lookNanos = List.of(0L, 300_000L, 1_000_000L).get(random.nextInt(3));
    harness.keepTime = true;
    harness.wallShiftMillis = random.nextInt(3_600_000);
    harness.wrap = disk -> plant.disk(new OverflowFaults(disk));
    harness.touchedAhead(List.of(2, 8, 256).get((int) Math.floorMod(seed, 3L)));
    plant.prepare(harness);
  }

  private static long mixed(long seed, long step) {
    long z = seed * 0x9E3779B97F4A7C15L + step * 0xD1B54A32D192ED03L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** A step of the history begins. */
  void step(int number) {
    random.setSeed(mixed(seed, number));
  }

  /**
   * Behind a step: in some of them what lies on the disk is replayed beside the broker. Which ones
   * does not depend on what is random, so that a history stays the same.
   */
  void stepped(int number) throws IOException {
    if (Math.floorMod(mixed(seed, ~number), REPLAYED) == 0) {
      rest();
      if (harness.isWritten()) {
        replaysAsItLived("behind step " + number);
      }
    }
  }

  private void replaysAsItLived(String when) throws IOException {
    replays++;
    String difference = harness.replayedOtherwise();
    if (difference != null) {
      throw new Oracle.Violation("ReplayedAsItLived", when + ", " + difference);
    }
  }

  /** How often what lies on the disk was replayed beside the broker. */
  int replays() {
    return replays;
  }

  boolean has(Feature feature) {
    return features.contains(feature);
  }

  boolean oneIn(int many) {
    return random.nextInt(many) == 0;
  }

  <T> T any(List<T> some) {
    return some.get(random.nextInt(some.size()));
  }

  // ---- the story, for whoever looks for the cause ----

  void tellAll() {
    tells = true;
  }

  void tell(Supplier<String> what) {
    if (tells) {
      if (told.size() == TOLD_LAST) {
        told.removeFirst();
      }
      told.addLast(wallMillis() % 10_000_000 + " " + what.get());
    }
  }

  List<String> told() {
    return List.copyOf(told);
  }

  // ---- time ----

  long wallMillis() {
    return harness.loops.clock().wallMillis();
  }

  long arrivalMillis() {
    return harness.loops.clock().arrivalMillis();
  }

  /** Not later than when the turn began in which something happens now. */
  long turnBeganMillis() {
    return wallMillis() - (harness.lookNanos == 0 ? 0 : 200);
  }

  /** How often the broker has ended. */
  int era() {
    return ends;
  }

  /** The latest time of the wall clock since a start of the broker. */
  long latestWallMillis(int era) {
    long latest = wallMillis();
    for (int i = Math.max(0, era); i < latestWallMillis.size(); i++) {
      latest = Math.max(latest, latestWallMillis.get(i));
    }
    return latest;
  }

  void advance(long nanos) {
    harness.loops.advance(nanos);
    look();
    ledger.rested();
  }

  /** Lets all finish that can without time. */
  void rest() {
    harness.loops.runUntilIdle();
    look();
    ledger.rested();
  }

  /** Runs some turns. */
  void turns(int most) {
    for (int n = most; n > 0 && harness.loops.step(); n--) {
      look();
    }
    look();
  }

  void until(BooleanSupplier done) {
    harness.loops.runUntil(done);
    look();
  }

  private void look() {
    Throwable failed = harness.paired == null ? null : harness.paired.failure();
    if (failed != null) {
      throw new AssertionError("a shard has ended: " + failed, failed);
    }
    if (harness.broker.failure().isDone()) {
      throw new AssertionError(
          "the shard has ended: " + harness.broker.failure().join(),
          harness.broker.failure().join());
    }
    look.run();
  }

  // ---- connections ----

  SimulatedPeer newPeer() {
    return plant.peer((harness.broker.epoch() << 32) | ++connections);
  }

  int nextCorrelation() {
    return harness.nextCorrelation();
  }

  void submit(Command command) {
    plant.submit(harness, command);
  }

  /** Asks the administrator's way and waits for the answer. */
  Peer.Reply administer(String verb, Map<String, String> arguments) {
    SimulatedPeer admin = newPeer();
    int c = nextCorrelation();
    tell(() -> verb + " " + arguments);
    submit(new Command.Admin(admin, c, verb, arguments));
    until(() -> admin.reply(c) != null);
    Peer.Reply reply = admin.reply(c);
    if (reply == null) {
      throw new AssertionError(verb + " has no answer");
    }
    return reply;
  }

  /** The same, of what cannot be refused. */
  void mustAdminister(String verb, Map<String, String> arguments) {
    if (!(administer(verb, arguments) instanceof Peer.Reply.Json)) {
      throw new AssertionError(verb + " of " + arguments + " is refused");
    }
  }

  /** Whether a run or commit may be answered so. */
  static boolean mayBeRefused(FaultCode code) {
    return switch (code) {
      case MEMORY_FULL,
          TRANSACTION_ROLLED_BACK,
          DESTINATION_GONE,
          TOO_LARGE,
          TRANSACTION_TOO_LARGE ->
          true;
      default -> false;
    };
  }

  // ---- starts and ends ----

  int ends() {
    return ends;
  }

  /** How often it has ended otherwise than in order; of several brokers that is not told apart. */
  int uncleanEnds() {
    return harness.paired == null ? uncleanEnds : ends;
  }

  void start() {
    boolean failing = overflowFails;
    overflowFails = false;
    plant.starting(true);
    for (int attempt = 0; ; attempt++) {
      try {
        harness.open();
        break;
      } catch (PowerCut cut) {
        end(true);
        if (attempt > 5) {
          throw new AssertionError("the power is cut again and again", cut);
        }
      } catch (IOException refused) {
        throw new Oracle.Violation("StartsAgain", String.valueOf(refused.getMessage()));
      }
    }
    plant.starting(false);
    harness.loops.stepLimit(MOST_TURNS);
    overflowFails = failing;
    if (random.nextBoolean()) {
      harness.loops.delay("destage", 1 + random.nextInt(50_000_000));
    }
    if (oneIn(4)) {
      harness.loops.delay("overflow", 1 + random.nextInt(2_000_000));
    }
  }

  /** Kills the process, or cuts the power. */
  void end(boolean power) {
    tell(() -> power ? "the power is cut" : "the process is killed");
    latestWallMillis.add(wallMillis());
    uncleanEnds++;
    boolean failing = overflowFails;
    overflowFails = false; // of several brokers some start again at once
    harness.crash(power);
    overflowFails = failing;
    ended(power && harness.paired == null); // what others have committed stays
  }

  /** Stops the broker in order; a power cut may come in between. */
  void stop() throws IOException {
    tell(() -> "the broker stops");
    overflowFails = false;
    try {
      long wall = wallMillis();
      snapshotsFindNoRoom = harness.paired == null && random.nextBoolean();
      plant.stop(harness);
      snapshotsFindNoRoom = false;
      latestWallMillis.add(wall);
      replaysAsItLived("behind an orderly end");
      ended(false);
    } catch (PowerCut cut) {
      snapshotsFindNoRoom = false;
      end(true);
    }
  }

  private void ended(boolean power) {
    ends++;
    ledger.ended(power);
    if (oneIn(6)) {
      long step = random.nextInt(4) == 0 ? 7_200_000 : 20_000;
      stepClock(random.nextLong(step) - step / 3);
    }
  }

  /** The next start finds the wall clock so far from where it would be. */
  void stepClock(long millis) {
    tell(() -> "the wall clock steps by " + millis + " ms");
    harness.wallShiftMillis += millis;
  }

  boolean deletionFailed() {
    return deletionFailed;
  }

  /** Names of overflow files that are there. */
  @Nullable String overflowLeft() throws IOException {
    List<String> files = harness.disk.list("overflow");
    return files.isEmpty() ? null : files.toString();
  }

  /** Files that took unlogged messages for which memory had no room. */
  int overflowFiles() {
    return harness.disk.creations("overflow/.*");
  }

  private final class OverflowFaults extends FaultyDisk {
    OverflowFaults(Disk disk) {
      super(disk);
    }

    @Override
    public DiskFile create(String name) throws IOException {
      fail(name, "create");
      if (snapshotsFindNoRoom && name.startsWith("snapshots/")) {
        throw new DiskFullException(name + " finds no room", new IOException("ENOSPC"));
      }
      return super.create(name);
    }

    @Override
    protected void write(DiskFile file, long at, ByteBuffer... from) throws IOException {
      if (fails(file.name())) {
        super.write(file, at, from[0].slice().limit(random.nextInt(from[0].remaining())));
        throw new IOException("a write fails");
      }
      super.write(file, at, from);
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
      return overflowFails && name.startsWith("overflow/") && random.nextInt(8) == 0;
    }

    private void fail(String name, String what) throws IOException {
      if (fails(name)) {
        deletionFailed |= what.equals("deletion");
        throw new IOException("a " + what + " of " + name + " fails");
      }
    }
  }
}
