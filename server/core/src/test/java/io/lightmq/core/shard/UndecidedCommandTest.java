package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.sessions.CommandQueue;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is refused before anybody decides it is counted no more by whoever has sent it. */
class UndecidedCommandTest {
  private final BrokerHarness h = new BrokerHarness(3);

  private static List<Command> unanswered(FakePeer peer) {
    return List.of(
        new Command.Pull(peer, 1, 1, 1, 1, 0),
        new Command.Begun(peer, 1, true, List.of()),
        new Command.Acknowledge(peer, 0, List.of()),
        new Command.Return(peer, 0, List.of(), true, null));
  }

  @Test
  void whatFindsNoRoomInTheMailbox() throws Exception {
    h.open();
    FakePeer peer = h.attach();
    for (int i = 0; i < CommandQueue.MAX_COMMANDS; i++) {
      h.broker.submit(new Command.Writable(peer));
    }
    int before = peer.carriedOut;
    unanswered(peer).forEach(h.broker::submit);
    assertThat(peer.carriedOut - before).isEqualTo(4);
    assertThat(peer.disconnects).hasSize(4);
    h.loops.runUntil(() -> h.broker.metrics() != null);
    h.close();
  }

  @Test
  void whatComesToABrokerThatHasStopped() throws Exception {
    h.open();
    FakePeer peer = h.attach();
    var stopped = h.broker.stop();
    h.loops.runUntil(stopped::isDone);
    int before = peer.carriedOut;
    unanswered(peer).forEach(h.broker::submit);
    h.loops.advance(1_000_000);
    h.close();
    assertThat(peer.carriedOut - before).isEqualTo(4);
  }
}
