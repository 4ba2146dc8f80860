package io.lightmq.core.simulation;

import io.lightmq.core.shard.BrokerHarness;
import io.lightmq.core.shard.PairedBrokers;
import java.util.function.Consumer;

/** Makes several brokers of the one of a history. */
class PairedPlant extends Plant {
  private final long seed;
  private final Consumer<PairedBrokers> made;

  PairedPlant(long seed, Consumer<PairedBrokers> made) {
    this.seed = seed;
    this.made = made;
  }

  @Override
  void prepare(BrokerHarness harness) {
    PairedBrokers brokers = new PairedBrokers(seed);
    harness.paired = brokers;
    made.accept(brokers);
  }
}
