package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A lack of file handles passes: the broker waits for some, and nothing is lost or ended. */
class FileHandlesTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final DestinationName UNLOGGED =
      new DestinationName(DestinationKind.QUEUE, "unlogged");
  private static final String TEXT = "x".repeat(4_000);

  @RegisterExtension final BrokerHarness h = new BrokerHarness(17);
  private long number;

  private FakePeer start() throws Exception {
    h.settings = BrokerHarness.settings(64 << 10, 1 << 18, 64 << 10, 1 << 30);
    h.open();
    return h.attach();
  }

  private int send(FakePeer peer, long id, int count) {
    int sent = 0;
    for (int i = 0; i < count; i++) {
      int c = h.publish(peer, id, ++number, number + TEXT);
      h.loops.advance(20_000_000L);
      if (BrokerHarness.find(peer, c) == null) {
        return sent; // the journal is full, and no checkpoint frees any of it
      }
      assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
      sent++;
    }
    return sent;
  }

  /** From nothing at all to enough for some of what a checkpoint opens. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 6})
  void sendsAndCheckpointsGoOnOnceThereAreHandles(int spare) throws Exception {
    FakePeer peer = start();
    long id = h.producer(peer, QUEUE);
    int sent = send(peer, id, 40);
    h.disk.maxHandles(h.disk.handles() + spare);
    h.broker.wantCheckpoint();
    h.loops.advance(5_000_000_000L);
    sent += send(peer, id, 200);
    for (int i = 0; i < 20; i++) {
      h.broker.wantCheckpoint();
      h.loops.advance(3_000_000_000L);
      assertThat(h.broker.failure()).isNotDone();
    }
    assertThat(peer.disconnects).isEmpty();
    h.disk.maxHandles(Integer.MAX_VALUE);
    h.loops.advance(10_000_000_000L);
    sent += (int) (number - sent); // the one that waited is taken now
    assertThat(peer.receipts).hasSize(sent).allMatch(each -> each.code() == FaultCode.OK);
    sent += send(peer, id, 50);
    assertThat(h.broker.metrics().checkpoints().done()).isPositive();
    assertThat(texts(sent)).containsExactlyElementsOf(expected(sent));
    h.close();
    h.open();
    assertThat(h.admin("destination.show", java.util.Map.of("name", "q")))
        .contains("\"backlog\":0");
  }

  @Test
  void whatLiesInFilesThatCannotBeOpenedIsNotDamagedAndComesLater() throws Exception {
    FakePeer peer = start();
    long id = h.producer(peer, QUEUE);
    int sent = send(peer, id, 100);
    h.broker.wantCheckpoint();
    h.loops.advance(5_000_000_000L);
    h.close();
    h.open();
    FakePeer reader = h.attach();
    h.consumer(reader, 1, QUEUE, Subscribe.QUEUE, null);
    h.disk.maxHandles(h.disk.handles());
    h.broker.submit(new Command.Pull(reader, 1, 77, 1_000, 1 << 20, 0));
    FakePeer picky = h.attach();
    h.tryConsumer(picky, 1, QUEUE, Subscribe.QUEUE, null, "n > 100", false);
    h.broker.submit(new Command.Pull(picky, 1, 78, 1_000, 1 << 20, 60_000));
    h.loops.advance(20_000_000_000L);
    assertThat(reader.received).isEmpty();
    assertThat(h.broker.failure()).isNotDone();
    assertThat(h.broker.metrics().of(Figure.DAMAGED_READS)).isZero();
    h.disk.maxHandles(Integer.MAX_VALUE);
    h.loops.advance(1_000_000_000L);
    assertThat(reader.received).isNotEmpty();
    assertThat(reader.received.get(0).text()).startsWith("1x");
    List<String> all = new ArrayList<>();
    reader.received.forEach(each -> all.add(each.text()));
    while (all.size() < sent) {
      h.pull(reader, 1, 1_000).forEach(each -> all.add(each.text()));
    }
    assertThat(all).containsExactlyElementsOf(expected(sent));
  }

  @Test
  void theOverflowWaitsForHandles() throws Exception {
    FakePeer peer = start();
    long id = h.producer(peer, UNLOGGED);
    h.disk.maxHandles(h.disk.handles());
    List<Integer> sent = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      sent.add(h.publish(peer, id, 0, i + TEXT));
    }
    h.loops.advance(5_000_000_000L);
    assertThat(h.broker.failure()).isNotDone();
    assertThat(h.broker.metrics().overflow().failures()).isPositive();
    h.disk.maxHandles(Integer.MAX_VALUE);
    h.loops.advance(5_000_000_000L);
    for (int each : sent) {
      assertThat(h.receipt(peer, each)).isEqualTo(FaultCode.OK);
    }
  }

  private static List<String> expected(int sent) {
    List<String> expected = new ArrayList<>();
    for (int i = 1; i <= sent; i++) {
      expected.add(i + TEXT);
    }
    return expected;
  }

  private List<String> texts(int sent) {
    FakePeer reader = h.attach();
    long id = h.consumer(reader, 1, QUEUE, Subscribe.QUEUE, null);
    List<String> texts = new ArrayList<>();
    while (texts.size() < sent) {
      for (FakePeer.Received each : h.pull(reader, 1, 1_000)) {
        texts.add(each.text());
        h.acknowledge(reader, 1, id, each.range());
      }
    }
    return texts;
  }
}
