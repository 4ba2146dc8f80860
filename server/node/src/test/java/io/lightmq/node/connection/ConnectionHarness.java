package io.lightmq.node.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.node.credit.CreditLedger;
import io.lightmq.node.credit.CreditSettings;
import io.lightmq.node.security.RoleAuthorizer;
import io.lightmq.node.security.Security;
import io.lightmq.spi.Authenticator;
import io.lightmq.spi.Authorizer;
import io.lightmq.spi.Principal;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.scram.ScramClient;
import io.lightmq.wire.scram.ScramCredential;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A connection without a network, in front of a shard that only writes down what it is asked. */
final class ConnectionHarness {
  static final ConnectionSettings SETTINGS =
      new ConnectionSettings(
          new ConnectionSettings.Counts(8, 3, 4, 5, 16),
          new ConnectionSettings.Sizes(64 << 10, 32 << 10, 16 << 10, 8 << 10),
          ConnectionSettings.Patience.defaults());

  /** Settings with so many requests that wait for answers. */
  static ConnectionSettings openRequests(int count) {
    return SETTINGS.with(SETTINGS.counts().withOpenRequests(count));
  }

  static final int DECODED = 1 << 20;
  static final UUID LINK = new UUID(1, 2);

  final List<Command> commands = new ArrayList<>();
  final CreditLedger ledger =
      new CreditLedger(
          new CreditSettings(2 << 20, 64 << 10, 512 << 10, SETTINGS.maxFrameBytes(), 8));
  final DeliveryBudget deliveries = new DeliveryBudget(1 << 20);
  final FrameBudget commits = new FrameBudget(100 << 10);
  final FrameBudget requests = new FrameBudget(100 << 10);
  final FrameBudget decoded = new FrameBudget(DECODED);
  final ConnectionHeap heap = new ConnectionHeap(1 << 20);
  final OpenRequests open = new OpenRequests(1_000);

  /** So many writes the client's socket takes yet. */
  int takes = Integer.MAX_VALUE;

  /** That of the broker's newest leadership. */
  long epoch = 3;

  final Connections connections;
  final EmbeddedChannel channel;

  /** The time of all connections together. */
  private long nanos;

  boolean anonymousAllowed = true;
  boolean authenticatorFails;

  /** What the admin loop comes to later; null while it does at once what it is given. */
  @Nullable List<Runnable> adminLater;

  /** The verbs that the node was asked for; it has all of users. */
  final List<String> nodeVerbs = new ArrayList<>();

  Authorizer authorizer = new RoleAuthorizer();
  private ScramCredential made = ScramCredential.create("secret", 4_096, new SecureRandom());
  private boolean removed;

  private final ByteBuf received = Unpooled.buffer();

  ConnectionHarness() {
    this("127.0.0.1");
  }

  ConnectionHarness(String remoteHost) {
    this(SETTINGS, remoteHost);
  }

  ConnectionHarness(ConnectionSettings settings, String remoteHost) {
    this(settings, remoteHost, null);
  }

  /**
   * A connection among others of its event loop.
   *
   * @param turns whose these share; null if it is alone
   */
  ConnectionHarness(ConnectionSettings settings, String remoteHost, DecodeTurns turns) {
    Door door =
        new Door(
            settings,
            new UUID(7, 7),
            () -> epoch,
            commands::add,
            this::onAdmin,
            new Security(
                users(),
                (user, action, name) -> authorizer.permits(user, action, name),
                new byte[32]),
            ledger,
            deliveries,
            commits,
            requests,
            decoded,
            verbs(),
            heap,
            open);
    connections =
        new Connections(
            door, turns == null ? Connections.eachOfItsLoop() : loop -> turns, () -> nanos);
    channel = open(remoteHost);
  }

  private void onAdmin(Runnable task) {
    List<Runnable> later = adminLater;
    if (later == null) {
      task.run();
    } else {
      later.add(task);
    }
  }

  private NodeVerbs verbs() {
    return new NodeVerbs() {
      @Override
      public boolean has(String verb) {
        return verb.startsWith("user.");
      }

      @Override
      public void execute(Peer peer, int correlation, String verb, Map<String, String> arguments) {
        nodeVerbs.add(verb);
      }
    };
  }

  /** Changes what is known of all users, as {@code user.set-password} does. */
  void setPassword(String changed) {
    made = ScramCredential.create(changed, 4_096, new SecureRandom());
  }

  /** Nobody is known any more. */
  void removeUsers() {
    removed = true;
  }

  private Authenticator users() {
    return new Authenticator() {
      @Override
      public Optional<Credential> find(String userName) {
        if (authenticatorFails) {
          throw new IllegalStateException("the directory of users does not answer");
        }
        if (removed || !(userName.equals("ada") || userName.equals("admin"))) {
          return Optional.empty();
        }
        String role = userName.equals("ada") ? RoleAuthorizer.USER : RoleAuthorizer.ADMIN;
        return Optional.of(
            new Credential(
                new Principal(userName, Set.of(role)),
                made.salt(),
                made.iterations(),
                made.storedKey(),
                made.serverKey()));
      }

      @Override
      public Optional<Principal> anonymous(boolean loopback) {
        return loopback && anonymousAllowed
            ? Optional.of(new Principal("anonymous", Set.of(RoleAuthorizer.ANONYMOUS)))
            : Optional.empty();
      }
    };
  }

  /** A connection for which time passes only when it is told so. */
  EmbeddedChannel open(String remoteHost) {
    EmbeddedChannel opened = embedded(remoteHost);
    opened.freezeTime();
    return opened;
  }

  private EmbeddedChannel embedded(String remoteHost) {
    return new EmbeddedChannel(connections) {
      @Override
      protected SocketAddress remoteAddress0() {
        return new InetSocketAddress(remoteHost, 4_711);
      }

      @Override
      protected void doWrite(ChannelOutboundBuffer buffer) {
        while (takes > 0 && buffer.current() != null) {
          handleOutboundMessage(ReferenceCountUtil.retain(buffer.current()));
          buffer.remove();
          takes -= takes == Integer.MAX_VALUE ? 0 : 1;
        }
      }
    };
  }

  void send(Frame frame) {
    channel.writeInbound(FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT));
    channel.runPendingTasks();
  }

  void sendBytes(ByteBuf bytes) {
    channel.writeInbound(bytes);
    channel.runPendingTasks();
  }

  /** The client reads so many writes more. */
  void takes(int writes) {
    takes = writes;
    channel.flush();
    channel.runPendingTasks();
  }

  /** What waits to be written, with what each write takes. */
  long waitingBytes() {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
    return buffer == null ? 0 : buffer.totalPendingWriteBytes();
  }

  boolean isReading() {
    return channel.config().isAutoRead();
  }

  /** The frames that went out since the last call. */
  List<Frame> sent() {
    channel.runPendingTasks();
    for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
      received.writeBytes(out);
      out.release();
    }
    List<Frame> frames = new ArrayList<>();
    while (received.readableBytes() >= 4) {
      frames.add(FrameCodec.decode(received.readSlice(received.readInt())));
    }
    return frames;
  }

  <T extends Frame> T sent(Class<T> type) {
    List<Frame> frames = sent();
    assertThat(frames).as("frames sent").hasSize(1);
    assertThat(frames.get(0)).isInstanceOf(type);
    return type.cast(frames.get(0));
  }

  /** Lets time pass for what the connection does later. */
  void pass(long millis) {
    nanos += TimeUnit.MILLISECONDS.toNanos(millis);
    channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
    channel.runScheduledPendingTasks();
  }

  /** The goodbye, the last of what was sent; that of a refused login comes after a pause. */
  Frame.Goodbye goodbye() {
    pass(ClientConnection.REFUSED_MILLIS);
    List<Frame> frames = sent();
    assertThat(frames).isNotEmpty();
    Frame last = frames.get(frames.size() - 1);
    assertThat(last).isInstanceOf(Frame.Goodbye.class);
    assertThat(channel.isActive()).as("still open after its goodbye").isFalse();
    return (Frame.Goodbye) last;
  }

  ConnectionHarness hello() {
    send(Protocol.hello("test"));
    sent(Frame.Welcome.class);
    return this;
  }

  ConnectionHarness anonymous() {
    hello().send(new Frame.AuthStart("ANONYMOUS", new byte[0]));
    return this;
  }

  /** A user whose password is {@code secret}, attached, with session 1 open. */
  ConnectionHarness attached(String user) throws Exception {
    hello();
    ScramClient scram = new ScramClient(user, "secret", new SecureRandom());
    send(new Frame.AuthStart(ScramClient.MECHANISM, scram.first()));
    send(new Frame.AuthResponse(scram.respond(sent(Frame.AuthChallenge.class).data())));
    scram.verify(sent(Frame.AuthDone.class).data());
    return attach();
  }

  /** An anonymous user, attached, with session 1 open. */
  ConnectionHarness attached() {
    anonymous();
    sent(Frame.AuthDone.class);
    return attach();
  }

  private ConnectionHarness attach() {
    send(new Frame.Attach(1, LINK, 1, 1, null));
    last(Command.Attach.class).peer().reply(1, new Peer.Reply.Attached(0, List.of(), 1));
    sent(Frame.Attached.class);
    send(new Frame.OpenSession(2, 1));
    sent(Frame.Ok.class);
    commands.clear();
    return this;
  }

  /** A producer 1 of session 1, for a queue with id 40. */
  ConnectionHarness producer() {
    send(new Frame.AttachProducer(3, 1, 1, queue("q")));
    last(Command.AttachProducer.class).peer().reply(3, new Peer.Reply.ProducerAttached(40));
    sent(Frame.ProducerAttached.class);
    commands.clear();
    return this;
  }

  void publish(int correlation, int bytes) {
    send(new Frame.Publish(correlation, 40, correlation, 1, run(bytes)));
  }

  /** One message whose run has so many bytes. */
  static ByteBuf run(int bytes) {
    return Unpooled.buffer().writeInt(bytes - 4).writeZero(bytes - 4);
  }

  /** The start of an entry that has so many bytes. */
  static ByteBuffer entry(int bytes) {
    return ByteBuffer.allocate(bytes).putInt(0, bytes);
  }

  static DestinationName queue(String name) {
    return new DestinationName(DestinationKind.QUEUE, name);
  }

  <T extends Command> T last(Class<T> type) {
    assertThat(commands).isNotEmpty();
    Command last = commands.get(commands.size() - 1);
    assertThat(last).isInstanceOf(type);
    return type.cast(last);
  }

  Peer peer() {
    return commands.get(commands.size() - 1).peer();
  }
}
