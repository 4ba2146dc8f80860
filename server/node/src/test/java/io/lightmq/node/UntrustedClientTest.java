package io.lightmq.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.runtime.ThreadLoops;
import io.lightmq.core.storage.MemoryDisk;
import io.lightmq.node.security.RoleAuthorizer;
import io.lightmq.node.security.Security;
import io.lightmq.node.security.UserStore;
import io.lightmq.spi.Authorizer;
import io.lightmq.wire.Frame;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageWriter;
import io.netty.buffer.Unpooled;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What raw clients of any age may say to a broker, over TCP. */
class UntrustedClientTest {
  private static final long OLD = 0;

  @TempDir Path directory;
  private Node node;
  private Authorizer authorizer = new RoleAuthorizer();

  @BeforeEach
  void start() throws IOException {
    UserStore users = UserStore.open(directory, true, false);
    node =
        Node.start(
            NodeSettings.defaults(),
            new MemoryDisk(1L << 30),
            new ThreadLoops((loop, cause) -> cause.printStackTrace()),
            new Security(
                users,
                (user, action, name) -> authorizer.permits(user, action, name),
                users.unknownUserKey()),
            new Transport(
                new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()),
                NioServerSocketChannel.class,
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
                true));
  }

  @AfterEach
  void stop() throws Exception {
    node.close();
  }

  private TestClient client(long features, UUID link, long epoch) throws IOException {
    TestClient client =
        TestClient.authenticated((InetSocketAddress) node.addresses().get(0), features);
    client.send(new Frame.Attach(1, link, epoch, 1, null));
    return client;
  }

  /** The metrics show the largest one by one; what the broker says of itself is of all. */
  @Test
  void theStatusCountsDestinationsThatTheMetricsDoNotShow() throws Exception {
    authorizer = (user, action, name) -> true;
    node.showDestinations(1);
    MessageWriter writer = new MessageWriter(1 << 10);
    writer.start(BodyType.TEXT, 4, true, 0, 0);
    writer.properties(Map.of()).textBody("text").finish();
    byte[] message = writer.toByteArray();
    try (TestClient client =
        TestClient.attached((InetSocketAddress) node.addresses().get(0), new UUID(3, 4), 1)) {
      for (String name : List.of("a", "b", "c")) {
        client.publish(
            client.producer(name),
            name.charAt(0) - 'a' + 1,
            Unpooled.buffer().writeInt(message.length).writeBytes(message),
            1);
        client.expect(Frame.Receipts.class);
      }
      String status = ""; // of the last time the metrics were counted, a second ago at most
      for (int i = 0; i < 100_000 && !status.contains("\"backlog\":3"); i++) {
        client.send(new Frame.Admin(500 + i, "broker.status", Map.of()));
        status = client.expect(Frame.AdminResult.class).json();
      }
      assertThat(status).contains("\"backlog\":3", "\"destinations\":3");
    }
  }

  @Test
  void anOldClientIsAnsweredAsBeforeAndMayNotTakeUpALinkThatIsForgotten() throws Exception {
    UUID link = new UUID(3, 4);
    try (TestClient old = client(OLD, link, 1)) {
      assertThat(old.expect(Frame.Attached.class).knownSince()).isEqualTo(Frame.Attached.UNTOLD);
      old.send(new Frame.OpenSession(2, 1));
      old.expect(Frame.Ok.class);
    }
    try (TestClient forgotten = client(OLD, new UUID(3, 5), 2)) {
      Frame.Goodbye bye = forgotten.goodbye();
      assertThat(bye).isNotNull();
      assertThat(bye.code()).isEqualTo(FaultCode.VERSION_MISMATCH);
      assertThat(bye.text()).contains("knows nothing of link");
    }
  }

  @Test
  void aClientThatKnowsTheFeatureLearnsSinceWhenItsLinkIsKnown() throws Exception {
    UUID link = new UUID(3, 4);
    TestClient first = client(Protocol.LINK_KNOWN, link, 1);
    assertThat(first.expect(Frame.Attached.class).knownSince()).isEqualTo(1);
    try (TestClient second = client(Protocol.LINK_KNOWN, link, 2)) {
      assertThat(second.expect(Frame.Attached.class).knownSince()).isEqualTo(1);
    }
    first.close();
    try (TestClient forgotten = client(Protocol.LINK_KNOWN, new UUID(3, 5), 2)) {
      assertThat(forgotten.expect(Frame.Attached.class).knownSince()).isEqualTo(2);
    }
  }

  @Test
  void whatOnlyTheBrokerWritesIsNotReadFromAClientsMessage() throws Exception {
    MessageWriter writer = new MessageWriter(1 << 12);
    writer.start(BodyType.TEXT, 4, true, 0, 0);
    writer
        .properties(Map.of("JMSXUserID", "root", "JMS_LightMQ_Origin", "payroll", "n", 1))
        .textBody("forged")
        .finish();
    byte[] message = writer.toByteArray();
    try (TestClient client = client(Protocol.FEATURES, new UUID(3, 4), 1)) {
      client.expect(Frame.Attached.class);
      client.send(new Frame.OpenSession(2, 1));
      client.expect(Frame.Ok.class);
      long queue = client.producer("DLQ");
      client.publish(queue, 1, Unpooled.buffer().writeInt(message.length).writeBytes(message), 1);
      client.expect(Frame.Receipts.class);
      client.consumer(1, "DLQ");
      client.send(new Frame.Pull(List.of(new Frame.PullOne(1, 1, 1, 1 << 16, 1_000))));
      Frame.Deliver deliver = client.expect(Frame.Deliver.class);
      MessageReader reader = MessageReader.ofEntry(deliver.entries().nioBuffer(), 0);
      assertThat(reader.properties()).containsOnlyKeys("n");
      assertThat(reader.textBody()).isEqualTo("forged");
      deliver.entries().release();
    }
  }
}
