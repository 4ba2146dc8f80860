package io.lightmq.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.runtime.ThreadLoops;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.MemoryDisk;
import io.lightmq.core.storage.NioDisk;
import io.lightmq.core.storage.journal.JournalSettings;
import io.lightmq.node.security.RoleAuthorizer;
import io.lightmq.node.security.Security;
import io.lightmq.node.security.UserStore;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageWriter;
import io.lightmq.wire.entry.SequenceRange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeOverTcpTest {
  private static final UUID LINK = new UUID(11, 22);
  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;

  @TempDir Path directory;

  private final Set<Thread> threadsBefore = lightThreads();
  private Node node;

  private static Set<Thread> lightThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(
            thread ->
                thread
                    .getName()
                    .matches("(test-io|shard|journal|force|destage|read|match|overflow|admin).*"))
        .collect(Collectors.toSet());
  }

  private Node start(Disk disk) throws IOException {
    NodeSettings otherwise = NodeSettings.defaults();
    BrokerSettings broker = otherwise.broker();
    BrokerSettings small =
        new BrokerSettings(
            broker.destinations(),
            broker.memory().withWindowBytes(16 * MIB).withUnloggedBytes(16 * MIB),
            broker.disk().withBallastBytes(0).withMinFreeBytes(0).withOverflowBytes(64 * MIB),
            broker.limits(),
            broker.intervals().withIdleReclaimMillis(0),
            JournalSettings.small(8 * MIB),
            broker.segments());
    NodeSettings settings =
        new NodeSettings(small, otherwise.connections(), 16 * MIB, MIB, 8 * MIB, 8 * MIB);
    UserStore users = UserStore.open(directory, true, false);
    return Node.start(
        settings,
        disk,
        new ThreadLoops((loop, cause) -> cause.printStackTrace()),
        new Security(users, new RoleAuthorizer(), users.unknownUserKey()),
        new Transport(
            new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("test-io"), NioIoHandler.newFactory()),
            NioServerSocketChannel.class,
            List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
            true));
  }

  @BeforeEach
  void start() throws IOException {
    node = start(new MemoryDisk(256L * MIB));
  }

  @AfterEach
  void stop() throws Exception {
    node.close();
    Set<Thread> left = lightThreads();
    left.removeAll(threadsBefore);
    for (Thread thread : left) {
      thread.join(5_000); // Netty tells of the end of a loop as the last act of its thread
      assertThat(thread.isAlive()).as(thread.getName()).isFalse();
    }
  }

  private InetSocketAddress address() {
    return (InetSocketAddress) node.addresses().get(0);
  }

  private TestClient attached(long epoch) throws IOException {
    return TestClient.attached(address(), LINK, epoch);
  }

  static ByteBuf run(boolean persistent, int bodyBytes, int count) {
    ByteBuf run = Unpooled.buffer();
    for (int i = 0; i < count; i++) {
      MessageWriter writer = new MessageWriter(5 * MIB);
      writer
          .start(BodyType.BYTES, 4, persistent, 0, 0)
          .bytesBody(new byte[bodyBytes], 0, bodyBytes);
      run.writeInt(writer.finish()).writeBytes(writer.array(), 0, writer.length());
    }
    return run;
  }

  private static List<Frame.Acked> acknowledge(
      int consumerId, long destination, Frame.Deliver got) {
    ByteBuffer entries = got.entries().nioBuffer();
    List<SequenceRange> ranges = new ArrayList<>();
    for (int at = 0; at < entries.limit(); at += Entry.length(entries, at)) {
      ranges.add(new SequenceRange(Entry.lane(entries, at), Entry.sequence(entries, at), 1));
    }
    return List.of(new Frame.Acked(consumerId, destination, ranges));
  }

  @Test
  void aMessageGoesThroughAndItsAcknowledgementTakesItAway() throws IOException {
    try (TestClient client = attached(1)) {
      long destination = client.producer("q");
      int correlation = client.publish(destination, 1, run(true, 100, 3), 3);
      assertThat(client.expect(Frame.Receipts.class).done())
          .containsExactly(new Frame.Done(correlation, 1));
      long queue = client.consumer(1, "q");
      client.send(new Frame.Pull(List.of(new Frame.PullOne(1, 1, 10, MIB, 5_000))));
      Frame.Deliver deliver = client.expect(Frame.Deliver.class);
      assertThat(deliver.count()).isEqualTo(3);
      ByteBuffer entries = deliver.entries().nioBuffer();
      assertThat(Entry.isIntact(entries, 0, entries.limit())).isTrue();
      assertThat(MessageReader.ofEntry(entries, 0).bytesBody()).hasSize(100);
      client.send(new Frame.Acknowledge(50, acknowledge(1, queue, deliver)));
      client.expect(Frame.Ok.class);
      client.send(new Frame.Pull(List.of(new Frame.PullOne(1, 2, 10, MIB, 0))));
      assertThat(client.expect(Frame.PullDone.class).ends())
          .containsExactly(new Frame.PullEnd(1, 2, FaultCode.OK, 0));
    }
  }

  @Test
  void aLostConnectionGivesItsMessagesToTheNextFlagged() throws IOException {
    TestClient first = attached(1);
    long destination = first.producer("q");
    first.publish(destination, 1, run(true, 10, 1), 1);
    first.expect(Frame.Receipts.class);
    first.consumer(1, "q");
    first.send(new Frame.Pull(List.of(new Frame.PullOne(1, 1, 1, MIB, 5_000))));
    first.expect(Frame.Deliver.class);
    first.socket.close();
    try (TestClient second = TestClient.attached(address(), new UUID(5, 5), 1)) {
      second.consumer(1, "q");
      second.send(new Frame.Pull(List.of(new Frame.PullOne(1, 1, 1, MIB, 10_000))));
      Frame.Deliver again = second.expect(Frame.Deliver.class);
      assertThat(again.seen()).hasSize(1);
    }
  }

  /** It was cut in silence, its link has come back, and now the network brings what it had said. */
  @Test
  void whatAnOldConnectionSaysBehindTheNewAttachOfItsLinkIsRefused() throws IOException {
    TestClient old = attached(1);
    long queue = old.producer("q");
    old.publish(queue, 1, run(true, 10, 4), 4);
    old.expect(Frame.Receipts.class);
    old.consumer(1, "q");
    old.send(new Frame.Pull(List.of(new Frame.PullOne(1, 1, 10, MIB, 5_000))));
    List<Frame.Acked> hand = acknowledge(1, queue, old.expect(Frame.Deliver.class));
    try (TestClient current = attached(2)) {
      current.consumer(1, "q");
      current.send(new Frame.Pull(List.of(new Frame.PullOne(1, 1, 10, MIB, 10_000))));
      Frame.Deliver again = current.expect(Frame.Deliver.class);
      assertThat(again.count()).isEqualTo(4);
      try {
        old.publish(queue, 2, run(true, 10, 1), 1);
        old.send(
            new Frame.Commit(
                60,
                1,
                3,
                List.of(new Frame.StagedRun(queue, true, 1, run(true, 10, 1))),
                List.of()));
        old.send(new Frame.Acknowledge(0, hand));
        old.send(new Frame.Return(0, hand, true, "late"));
        old.send(new Frame.Goodbye(FaultCode.OK, ""));
      } catch (IOException e) {
        // The broker has closed it already.
      }
      assertThatThrownBy(() -> old.expect(Frame.Ok.class)).isInstanceOf(IOException.class);
      old.socket.close();
      current.send(new Frame.Acknowledge(70, acknowledge(1, queue, again)));
      current.expect(Frame.Ok.class); // all of it is still in its hands
      current.publish(current.producer("q"), 2, run(true, 10, 1), 1);
      current.expect(Frame.Receipts.class);
      current.send(new Frame.Pull(List.of(new Frame.PullOne(1, 2, 10, MIB, 10_000))));
      assertThat(current.expect(Frame.Deliver.class).count()).isOne();
    }
  }

  @Test
  void whatWasConfirmedIsThereAfterARestart() throws IOException {
    node.close();
    node = start(NioDisk.open(directory.resolve("data")));
    try (TestClient client = attached(1)) {
      client.publish(client.producer("q"), 1, run(true, 1_000, 5), 5);
      client.expect(Frame.Receipts.class);
    }
    node.close();
    node = start(NioDisk.open(directory.resolve("data")));
    try (TestClient client = attached(2)) {
      client.consumer(1, "q");
      client.send(new Frame.Pull(List.of(new Frame.PullOne(1, 1, 10, MIB, 5_000))));
      assertThat(client.expect(Frame.Deliver.class).count()).isEqualTo(5);
    }
  }

  @Test
  void aMessageLargerThanTheFirstCreditGetsThrough() throws IOException {
    try (TestClient client = attached(1)) {
      long destination = client.producer("q");
      for (int number = 1; number <= 3; number++) {
        client.publish(destination, number, run(true, 3 * MIB, 1), 1);
        client.expect(Frame.Receipts.class);
      }
      client.awaitCredit(9L * MIB);
    }
  }

  @Test
  void creditComesBackWhileAClientFloods() throws IOException {
    try (TestClient client = attached(1)) {
      long destination = client.producer("q");
      long number = 0;
      int receipts = 0;
      while (client.sentBytes < 24L * MIB) {
        while (client.sentBytes >= client.credit) {
          receipts += client.receiptsInNextFrame();
        }
        client.publish(destination, ++number, run(true, 64 * KIB, 1), 1);
      }
      while (receipts < number) {
        receipts += client.receiptsInNextFrame();
      }
      NodeMetrics metrics = node.metrics();
      assertThat(metrics.network().bytes()).isLessThanOrEqualTo(metrics.network().boundBytes());
      assertThat(metrics.credit().bytes()).isLessThanOrEqualTo(metrics.credit().boundBytes());
    }
  }

  @Test
  void clientsWhoIgnoreTheirCreditAreEndedAndTheMemoryBoundHolds() throws IOException {
    List<TestClient> clients = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      TestClient client = TestClient.attached(address(), new UUID(9, i), 1);
      clients.add(client);
      long destination = client.producer("flood" + i);
      try {
        for (int number = 1; number < 200; number++) {
          client.publish(destination, number, run(true, 64 * KIB, 1), 1);
        }
      } catch (IOException endedByTheBroker) {
        assertThat(endedByTheBroker).isNotNull();
      }
    }
    NodeMetrics metrics = node.metrics();
    assertThat(metrics.network().bytes()).isLessThanOrEqualTo(metrics.network().boundBytes());
    for (TestClient client : clients) {
      client.socket.close();
    }
    try (TestClient other = attached(1)) {
      other.publish(other.producer("q"), 1, run(true, 10, 1), 1);
      other.expect(Frame.Receipts.class);
    }
  }

  @Test
  void closingSaysGoodbyeAndFreesThePort() throws IOException {
    InetSocketAddress address = address();
    TestClient client = attached(1);
    node.close();
    Frame.Goodbye goodbye = client.goodbye();
    assertThat(goodbye).isNotNull();
    assertThat(goodbye.code()).isEqualTo(FaultCode.CLOSING);
    assertThatThrownBy(() -> new Socket(address.getAddress(), address.getPort()))
        .isInstanceOf(ConnectException.class);
    client.socket.close();
    node = start(new MemoryDisk(256L * MIB));
  }

  @Test
  void aDirectoryInUseIsRefusedAndNamed() throws IOException {
    Path data = directory.resolve("data");
    try (NioDisk held = NioDisk.open(data)) {
      assertThatThrownBy(() -> NioDisk.open(data))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(held.root().toString());
    }
  }
}
