package io.lightmq.tck.faults;

import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;

/** SIGKILL under load. What the operating system holds in its page cache survives. */
final class KillRounds extends Rounds {

  KillRounds(BrokerSetup setup, EventLog events, long seed) {
    super(setup, events, seed);
  }

  @Override
  void fault(BrokerProcess broker, int round) throws InterruptedException {
    broker.kill();
  }

  @Override
  boolean isQuiet(int round) {
    return false;
  }
}
