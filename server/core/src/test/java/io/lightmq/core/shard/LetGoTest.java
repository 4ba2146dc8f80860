package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever becomes of a command, its connection learns once that what it named is not kept. */
class LetGoTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");

  private enum Fate {
    TAKEN,
    REFUSED,
    REPEATED,
    UNATTACHED,
    EXPELLED,
    CLOSED
  }

  @ParameterizedTest
  @EnumSource(Fate.class)
  void whatIsNamedIsLetGoOnce(Fate fate) throws Exception {
    BrokerHarness h = new BrokerHarness(7).open();
    FakePeer peer = fate == Fate.UNATTACHED ? h.newPeer() : h.attach();
    long id = 77;
    if (fate != Fate.UNATTACHED) {
      id = h.consumer(peer, 1, QUEUE, Command.Subscribe.QUEUE, null);
    }
    if (fate == Fate.CLOSED) {
      var stopped = h.broker.stop();
      h.loops.runUntil(stopped::isDone);
    }
    List<Command.Acked> named =
        List.of(
            new Command.Acked(
                1, fate == Fate.REFUSED ? 99 : id, List.of(new SequenceRange(4, 1, 1))));
    long number = fate == Fate.EXPELLED ? 7 : 1;
    List<Command> commands = new ArrayList<>();
    commands.add(new Command.Acknowledge(peer, 0, named));
    commands.add(new Command.Acknowledge(peer, 500, named));
    commands.add(new Command.Return(peer, 0, named, true));
    commands.add(new Command.Begun(peer, 1, false, named));
    commands.add(new Command.Commit(peer, 501, 1, number, List.of(), named));
    if (fate == Fate.REPEATED) {
      commands.add(new Command.Commit(peer, 502, 1, number, List.of(), named));
    }
    commands.forEach(h.broker::submit);
    h.loops.runUntilIdle();
    assertThat(peer.letGo).hasSize(commands.size()).allMatch(each -> each == named);
    assertThat(peer.disconnects.isEmpty())
        .isEqualTo(fate != Fate.EXPELLED && fate != Fate.CLOSED && fate != Fate.UNATTACHED);
    if (fate != Fate.CLOSED) {
      h.close();
    }
  }
}
