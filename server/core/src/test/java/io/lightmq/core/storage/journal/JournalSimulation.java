package io.lightmq.core.storage.journal;

import io.lightmq.core.sim.PowerCut;
import io.lightmq.core.sim.SimulatedDisk.Operation;
import io.lightmq.spi.Journal.Outcome;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * One run of a journal under random batches, crashes, failures and trims, checked against a sorted
 * map. One seed decides everything.
 *
 * <p>After each start: what was found is a prefix of what was appended, byte for byte
 * (<em>NothingInvented</em>); it holds all that was confirmed (<em>NoConfirmedBatchLost</em>) and,
 * when only the process ended, all that was written (<em>NoWrittenBatchLostByAKill</em>). Nothing
 * is done after a failure (<em>NothingConfirmedAfterAFailure</em>).
 */
final class JournalSimulation {
  /** An invariant that does not hold. */
  static final class Violation extends AssertionError {
    private static final long serialVersionUID = 1L;

    Violation(String message) {
      super(message);
    }
  }

  private final JournalRig rig;
  private final Random random;
  private final boolean failures;

  /** All that was appended or found, from the trimmed offset on, in offset order. */
  private final TreeMap<Long, byte[]> content = new TreeMap<>();

  private TestBatch starter;

  JournalSimulation(long seed, JournalRig rig, boolean failures) {
    this.rig = rig;
    this.random = new Random(seed * 31 + 7);
    this.failures = failures;
  }

  void run(int rounds) throws IOException {
    boolean killed = false;
    for (int round = 0; round < rounds; round++) {
      try {
        if (random.nextInt(4) == 0) {
          rig.disk.cutPowerAt(1 + random.nextInt(60));
        }
        begin(killed);
        work();
        if (random.nextInt(6) == 0) {
          close();
        }
      } catch (PowerCut cut) {
        rig.loops.crash();
      }
      killed = random.nextInt(3) == 0;
      if (killed) {
        rig.kill();
      } else {
        rig.crash();
      }
    }
    begin(killed);
  }

  private void begin(boolean killed) throws IOException {
    TreeMap<Long, byte[]> written = new TreeMap<>();
    for (TestBatch batch : rig.appended) {
      if (killed && batch.written) {
        written.put(batch.offset, batch.payload);
      }
    }
    rig.recover();
    check(written, "NoWrittenBatchLostByAKill");
    check(rig.confirmed, "NoConfirmedBatchLost");
    checkNothingInvented();
    content.keySet().retainAll(rig.replayed.keySet());
    starter = append(true, true);
    TreeMap<Long, byte[]> found = new TreeMap<>(content);
    starter.whenCompleted =
        starter.whenCompleted.andThen(
            batch -> {
              if (batch.outcome == Outcome.DONE) {
                rig.confirmed.putAll(found);
              }
            });
  }

  private void check(Map<Long, byte[]> needed, String invariant) {
    needed.forEach(
        (offset, payload) -> {
          if (offset < rig.trimmedBelow) {
            return;
          }
          byte[] found = rig.replayed.get(offset);
          if (found == null || !Arrays.equals(Arrays.copyOf(found, payload.length), payload)) {
            throw new Violation(
                invariant
                    + ": the batch at "
                    + offset
                    + " is "
                    + (found == null ? "gone" : "wrong"));
          }
        });
  }

  private void checkNothingInvented() {
    content.headMap(rig.trimmedBelow).clear();
    var expected = content.entrySet().iterator();
    for (Map.Entry<Long, byte[]> found : rig.replayed.entrySet()) {
      Map.Entry<Long, byte[]> next = expected.hasNext() ? expected.next() : null;
      if (next == null
          || !next.getKey().equals(found.getKey())
          || !Arrays.equals(
              Arrays.copyOf(found.getValue(), next.getValue().length), next.getValue())) {
        throw new Violation("NothingInvented: unexpected batch at " + found.getKey());
      }
    }
  }

  private void work() {
    if (random.nextInt(8) == 0) {
      return;
    }
    if (failures && random.nextInt(3) == 0) {
      Operation operation = random.nextBoolean() ? Operation.FORCE : Operation.WRITE;
      rig.disk.fail(operation, 1 + random.nextInt(8));
    }
    boolean quick = random.nextBoolean();
    rig.loops.delay("force", quick ? 0 : 1_000_000);
    int lazy = random.nextInt(3);
    int batches = random.nextInt(40);
    for (int i = 0; i < batches; i++) {
      makeRoom();
      if (!rig.failures.isEmpty()) {
        break;
      }
      append(false, lazy == 0 || random.nextInt(lazy + 1) == 0);
      int steps = random.nextInt(6);
      for (int step = 0; step < steps; step++) {
        rig.loops.step();
      }
      if (random.nextInt(20) == 0) {
        rig.journal.force();
      }
      if (random.nextInt(20) == 0) {
        rig.loops.advance(random.nextInt(3) * 15_000_000L);
      }
    }
    if (random.nextInt(3) == 0) {
      rig.loops.advance(50_000_000);
    }
    checkFailure();
  }

  private void checkFailure() {
    if (rig.failures.size() > 1) {
      throw new Violation("failed() was called " + rig.failures.size() + " times");
    }
    if (!rig.failures.isEmpty()) {
      rig.loops.runUntilIdle();
      TestBatch late = append(false, true);
      rig.loops.advance(50_000_000);
      if (late.outcome != Outcome.REFUSED) {
        throw new Violation("NothingConfirmedAfterAFailure: outcome " + late.outcome);
      }
      for (TestBatch batch : rig.appended) {
        if (batch.outcome == null) {
          throw new Violation("no outcome for the batch at " + batch.offset + " after a failure");
        }
      }
      rig.failures.clear();
    }
  }

  /** As the shard does: what is durable is destaged, and the journal trimmed. */
  private void makeRoom() {
    boolean full = rig.lastEighth() || rig.window.room(rig.journal.written()) < (42 << 10);
    if (!full && random.nextInt(30) != 0) {
      return;
    }
    rig.journal.force();
    rig.loops.advance(2_000_000);
    Long below = content.floorKey(rig.journal.durable());
    if (below != null && starter.outcome == Outcome.DONE) {
      rig.trimmedBelow = Math.max(rig.trimmedBelow, below);
      rig.journal.trim(rig.trimmedBelow);
      rig.loops.advance(2_000_000);
    }
  }

  private TestBatch append(boolean startsEpoch, boolean wantsForce) {
    int most = startsEpoch ? 200 : random.nextInt(12) == 0 ? 39_000 : 1_500;
    byte[] payload = new byte[random.nextInt(most)];
    random.nextBytes(payload);
    TestBatch batch = rig.append(payload, startsEpoch, wantsForce);
    content.put(batch.offset, payload);
    return batch;
  }

  private void close() {
    try {
      rig.journal.close();
    } catch (IOException e) {
      rig.failures.clear();
    }
  }
}
