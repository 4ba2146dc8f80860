package io.lightmq.core.simulation;

import io.lightmq.core.door.Command;
import io.lightmq.core.shard.BrokerHarness;
import java.util.List;

/** Planted bugs of transactions that are staged. */
final class StagingPlants {
  private StagingPlants() {}

  /** Of what a transaction stages the acknowledgements are forgotten. */
  static final class StagesByHalves extends Plant {
    @Override
    void submit(BrokerHarness harness, Command command) {
      super.submit(
          harness,
          command instanceof Command.Stage stage ? withoutAcknowledgements(stage) : command);
    }

    static Command.Stage withoutAcknowledgements(Command.Stage stage) {
      return new Command.Stage(
          stage.peer(),
          stage.correlation(),
          stage.sessionId(),
          stage.transaction(),
          stage.runs(),
          List.of(),
          stage.branch());
    }
  }

  /** What a transaction acknowledges is given back instead of held. */
  static final class HoldsNothing extends Plant {
    @Override
    void submit(BrokerHarness harness, Command command) {
      if (command instanceof Command.Stage stage && !stage.acked().isEmpty()) {
        super.submit(harness, StagesByHalves.withoutAcknowledgements(stage));
        super.submit(harness, new Command.Return(stage.peer(), 0, stage.acked(), false));
      } else {
        super.submit(harness, command);
      }
    }
  }
}
