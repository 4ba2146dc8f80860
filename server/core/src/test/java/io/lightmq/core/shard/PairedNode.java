package io.lightmq.core.shard;

import io.lightmq.core.runtime.Loop;
import io.lightmq.core.sim.PairedLog;
import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.core.sim.SimulatedLoops;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A broker on a log that others may share. */
final class PairedNode {
  private static final long MILLI = 1_000_000;

  /** More without rest go on for ever. */
  private static final long MOST_TURNS = 500_000;

  final SimulatedDisk disk;
  final BrokerHarness words;
  final PairedLog log;
  PairedLog.Member member;
  private Loop shard;

  PairedNode(long seed, SimulatedLoops loops, PairedLog log) throws IOException {
    this.disk = new SimulatedDisk(seed);
    this.log = log;
    this.words = new BrokerHarness(seed);
    words.loops = loops;
    loops.stepLimit(MOST_TURNS);
    start();
  }

  void start() throws IOException {
    words.broker =
        Broker.begin(
            words.settings,
            disk,
            words.loops,
            ShardSeams.PRODUCT.with(
                (JournalMaker)
                    (files, loops, settings, store) -> {
                      member = log.join(loops);
                      return member;
                    }));
    shard = words.loops.newest("shard");
    words.loops.advance(MILLI);
  }

  PairedNode lead() {
    long before = words.broker.epoch();
    member.lead();
    words.loops.runUntil(() -> words.broker.epoch() > before);
    return this;
  }

  Life life() {
    return words.broker.life();
  }

  List<ByteBuffer> state() {
    List<ByteBuffer> slices = new ArrayList<>();
    words.loops.within(shard, () -> slices.addAll(words.broker.stateForTests()));
    return slices;
  }
}
