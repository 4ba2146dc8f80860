package io.lightmq.tck.faults;

import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import java.io.IOException;

/**
 * The file system loses its power: half of the rounds under load, half of them without traffic
 * within 300 ms of the last receipt, where no later force can hide a missing one.
 */
final class PowerCuts extends Rounds {

  private final LoopDisk disk;

  PowerCuts(BrokerSetup setup, LoopDisk disk, EventLog events, long seed) {
    super(setup, events, seed);
    this.disk = disk;
  }

  @Override
  void fault(BrokerProcess broker, int round)
      throws HarnessException, IOException, InterruptedException {
    disk.cutPower(random().nextInt(4) == 0);
    awaitAftermath();
    broker.kill();
    disk.unmount();
    disk.mount();
  }

  @Override
  boolean isQuiet(int round) {
    return round % 2 == 0;
  }
}
