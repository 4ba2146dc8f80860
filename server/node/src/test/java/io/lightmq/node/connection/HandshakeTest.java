package io.lightmq.node.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.spi.Principal;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.scram.ScramClient;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class HandshakeTest {
  private final ConnectionHarness harness = new ConnectionHarness();

  @Test
  void welcomeNamesTheLimits() {
    harness.send(Protocol.hello("test"));
    Frame.Welcome welcome = harness.sent(Frame.Welcome.class);
    assertThat(welcome.version()).isEqualTo(Protocol.MAX_VERSION);
    assertThat(welcome.maxMessageBytes()).isEqualTo(64 << 10);
    assertThat(welcome.maxTransactionBytes()).isEqualTo(32 << 10);
    assertThat(welcome.maxFrameBytes()).isGreaterThan(64 << 10);
    assertThat(welcome.heartbeatMillis()).isEqualTo(10_000);
  }

  @Test
  void anonymousFromThisMachineIsLetIn() {
    harness.anonymous();
    Frame.AuthDone done = harness.sent(Frame.AuthDone.class);
    assertThat(done.userName()).isEqualTo("anonymous");
    assertThat(done.connectionId() >>> 32).as("the broker's epoch").isEqualTo(3);
  }

  @Test
  void aConnectionIdBeginsWithTheEpochOfTheLeadershipThatItComesIn() {
    assertThat(idOf(harness.channel) >>> 32).isEqualTo(3);
    harness.epoch = 4;
    long second = idOf(harness.open("127.0.0.1"));
    assertThat(second >>> 32).isEqualTo(4);
    harness.epoch = 3;
    assertThat(idOf(harness.open("127.0.0.1")))
        .as("while the next epoch is not durable")
        .isNotIn(second, idOf(harness.channel));
  }

  private static long idOf(Channel channel) {
    return channel.pipeline().get(ClientConnection.class).id();
  }

  @Test
  void anonymousFromElsewhereIsRefused() {
    ConnectionHarness far = new ConnectionHarness("203.0.113.9").anonymous();
    Frame.Goodbye goodbye = far.goodbye();
    assertThat(goodbye.code()).isEqualTo(FaultCode.AUTHENTICATION_FAILED);
    assertThat(goodbye.text()).contains("give a user and password", "security.anonymous");
    assertThat(far.commands).isEmpty();
  }

  @Test
  void aUserWithTheRightPasswordIsLetIn() throws Exception {
    harness.attached("ada");
    harness.send(new Frame.SetClientId(9, "c"));
    assertThat(harness.peer().userName()).isEqualTo("ada");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ada", "nobody"})
  void wrongPasswordAndUnknownUserAreRefusedAlike(String user) throws Exception {
    harness.hello();
    ScramClient scram = new ScramClient(user, "guess", new SecureRandom());
    harness.send(new Frame.AuthStart(ScramClient.MECHANISM, scram.first()));
    byte[] challenge = harness.sent(Frame.AuthChallenge.class).data();
    harness.send(new Frame.AuthResponse(scram.respond(challenge)));
    Frame.Goodbye goodbye = harness.goodbye();
    assertThat(goodbye.code()).isEqualTo(FaultCode.AUTHENTICATION_FAILED);
    assertThat(goodbye.text()).isEqualTo(user + ": user unknown or password wrong");
  }

  @ParameterizedTest
  @ValueSource(strings = {"NONSENSE", "ANONYMOUS"})
  void aRefusedLoginIsAnsweredAfterAPauseInWhichNothingIsRead(String mechanism) {
    ConnectionHarness far = new ConnectionHarness("203.0.113.9").hello();
    far.send(new Frame.AuthStart(mechanism, new byte[0]));
    far.pass(ClientConnection.REFUSED_MILLIS - 1);
    assertThat(far.sent()).isEmpty();
    assertThat(far.isReading()).isFalse();
    far.pass(1);
    assertThat(far.goodbye().code())
        .isIn(FaultCode.AUTHENTICATION_FAILED, FaultCode.PROTOCOL_ERROR);
  }

  /** A connection whose login is refused, and what it is told after the pause. */
  private EmbeddedChannel refused(String address) {
    EmbeddedChannel channel = harness.open(address);
    for (Frame frame :
        List.of(Protocol.hello("test"), new Frame.AuthStart("NONSENSE", new byte[0]))) {
      channel.writeInbound(FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT));
      channel.runPendingTasks();
    }
    return channel;
  }

  @Test
  void whoComesFromWhereManyLoginsAreRefusedIsReadLate() {
    for (int i = 0; i <= SlowNetworks.FREE; i++) {
      refused("203.0.113." + i);
    }
    EmbeddedChannel next = harness.open("203.0.113.99");
    assertThat(next.config().isAutoRead()).isFalse();
    assertThat(harness.open("203.0.114.99").config().isAutoRead()).isTrue();
    next.advanceTimeBy(ClientConnection.REFUSED_MILLIS - 1, TimeUnit.MILLISECONDS);
    next.runScheduledPendingTasks();
    assertThat(next.config().isAutoRead()).isFalse();
    next.advanceTimeBy(1, TimeUnit.MILLISECONDS);
    next.runScheduledPendingTasks();
    assertThat(next.config().isAutoRead()).isTrue();
    assertThat(authenticated().isActive()).isTrue();
  }

  @Test
  void itIsReadWhenEnoughWaitBehindIt() {
    for (int i = 0; i <= SlowNetworks.FREE; i++) {
      refused("203.0.113." + i);
    }
    EmbeddedChannel first = harness.open("203.0.113.99");
    for (int i = 1; i <= SlowNetworks.MOST_WAITING; i++) {
      assertThat(first.config().isAutoRead()).isFalse();
      harness.open("203.0.113.98");
      first.runPendingTasks();
    }
    assertThat(first.config().isAutoRead()).isTrue();
  }

  /** Else there would be more connections than places, as many as come in the pause. */
  @Test
  void whoIsPushedOutWhileItsRefusalWaitsIsToldAtOnce() {
    EmbeddedChannel first = refused("203.0.113.1");
    assertThat(first.isActive()).isTrue();
    for (int i = 0; i < ConnectionPlaces.HALF_OPEN_PER_ADDRESS; i++) {
      harness.open("203.0.113.1");
    }
    first.runPendingTasks();
    assertThat(first.isActive()).isFalse();
    ByteBuf last = first.outboundMessages().stream().map(ByteBuf.class::cast).toList().get(1);
    assertThat(((Frame.Goodbye) FrameCodec.decode(last.skipBytes(4))).code())
        .isEqualTo(FaultCode.PROTOCOL_ERROR);
  }

  /** Or thousands a second that come and go would fill the heap until then. */
  @Test
  void aConnectionThatIsGoneLeavesNothingThatIsDueLater() {
    EmbeddedChannel channel = authenticated();
    assertThat(channel.runScheduledPendingTasks()).isPositive();
    channel.unsafe().close(channel.unsafe().voidPromise()); // the test's own would forget them
    channel.runPendingTasks();
    assertThat(channel.isActive()).isFalse();
    assertThat(channel.runScheduledPendingTasks()).isEqualTo(-1);
  }

  @ParameterizedTest
  @EnumSource(
      value = FaultCode.class,
      names = {"LIMIT_REACHED", "RETRY_LATER"})
  void whoIsPutOutAtALimitIsToldAfterAPauseInWhichNothingIsRead(FaultCode code) {
    harness.attached();
    harness.send(new Frame.SetClientId(9, "c"));
    harness.peer().disconnect(code, "too many");
    assertThat(harness.sent()).isEmpty();
    assertThat(harness.isReading()).isFalse();
    assertThat(harness.goodbye().code()).isEqualTo(code);
  }

  @Test
  void whoIsPutOutForAnotherReasonIsToldAtOnce() {
    harness.attached();
    harness.send(new Frame.SetClientId(9, "c"));
    harness.peer().disconnect(FaultCode.CLOSING, "the broker is shutting down");
    assertThat(harness.sent(Frame.Goodbye.class).code()).isEqualTo(FaultCode.CLOSING);
  }

  @Test
  void whoIsLetInIsAnsweredAtOnceAlsoWithARefusal() {
    harness.attached();
    harness.send(new Frame.AuthStart("ANONYMOUS", new byte[0]));
    assertThat(harness.sent(Frame.Goodbye.class).code()).isEqualTo(FaultCode.PROTOCOL_ERROR);
  }

  /** A handshake may be held open between the challenge and its answer. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoWasRemovedOrGotAnotherPasswordAfterTheChallengeStaysOutside(boolean removed)
      throws Exception {
    harness.hello();
    ScramClient scram = new ScramClient("ada", "secret", new SecureRandom());
    harness.send(new Frame.AuthStart(ScramClient.MECHANISM, scram.first()));
    byte[] challenge = harness.sent(Frame.AuthChallenge.class).data();
    if (removed) {
      harness.removeUsers();
    } else {
      harness.setPassword("other");
    }
    harness.send(new Frame.AuthResponse(scram.respond(challenge)));
    Frame.Goodbye goodbye = harness.goodbye();
    assertThat(goodbye.code()).isEqualTo(FaultCode.AUTHENTICATION_FAILED);
    assertThat(goodbye.text()).isEqualTo("ada: user unknown or password wrong");
    assertThat(harness.commands).isEmpty();
  }

  @Test
  void anAuthenticatorThatFailsIsWorthAnotherTry() throws Exception {
    harness.authenticatorFails = true;
    harness.hello();
    ScramClient scram = new ScramClient("ada", "secret", new SecureRandom());
    harness.send(new Frame.AuthStart(ScramClient.MECHANISM, scram.first()));
    assertThat(harness.goodbye().code()).isEqualTo(FaultCode.RETRY_LATER);
  }

  @Test
  void aFrameAboveSixteenKibibytesBeforeAuthenticationEndsTheConnectionUnread() {
    harness.sendBytes(Unpooled.buffer().writeInt(16 << 10).writeByte(1));
    Frame.Goodbye goodbye = harness.goodbye();
    assertThat(goodbye.code()).isEqualTo(FaultCode.TOO_LARGE);
    assertThat(goodbye.text()).contains("16384");
  }

  @Test
  void aRequestBeforeAuthenticationEndsTheConnection() {
    harness.hello().send(new Frame.OpenSession(1, 1));
    assertThat(harness.goodbye().code()).isEqualTo(FaultCode.PROTOCOL_ERROR);
    assertThat(harness.commands).isEmpty();
  }

  @Test
  void handshakeFramesOutOfOrderEndTheConnection() {
    harness.send(new Frame.AuthStart("ANONYMOUS", new byte[0]));
    assertThat(harness.goodbye().text()).contains("AuthStart").contains("HELLO");
    ConnectionHarness second = new ConnectionHarness().hello();
    second.send(Protocol.hello("again"));
    assertThat(second.goodbye().text()).contains("out of order");
    ConnectionHarness third = new ConnectionHarness().hello();
    third.send(new Frame.AuthResponse(new byte[1]));
    assertThat(third.goodbye().code()).isEqualTo(FaultCode.PROTOCOL_ERROR);
  }

  @Test
  void aSecondAuthenticationIsAViolation() {
    harness.attached().send(new Frame.AuthStart("ANONYMOUS", new byte[0]));
    assertThat(harness.goodbye().code()).isEqualTo(FaultCode.PROTOCOL_ERROR);
    harness.last(Command.Detach.class);
  }

  @Test
  void anUnknownMechanismNamesTheKnownOnes() {
    harness.hello().send(new Frame.AuthStart("PLAIN", new byte[0]));
    assertThat(harness.goodbye().text()).contains("PLAIN").contains("SCRAM-SHA-256");
  }

  @Test
  void versionsThatNobodySpeaksAreRefused() {
    harness.send(new Frame.Hello(90, 99, 0, "future"));
    assertThat(harness.goodbye().code()).isEqualTo(FaultCode.VERSION_MISMATCH);
  }

  @Test
  void bytesThatAreNoFrameEndOnlyThisConnection() {
    EmbeddedChannel other = harness.open("127.0.0.1");
    harness.sendBytes(
        Unpooled.copiedBuffer(
            "GET / HTTP/1.1\r\n\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
    assertThat(harness.goodbye().code()).isIn(FaultCode.TOO_LARGE, FaultCode.PROTOCOL_ERROR);
    assertThat(other.isActive()).isTrue();
  }

  @Test
  void aHandshakeThatTakesTooLongIsEnded() {
    harness.hello();
    harness.channel.advanceTimeBy(3, TimeUnit.SECONDS);
    harness.channel.runScheduledPendingTasks();
    assertThat(harness.channel.isActive()).isTrue();
    harness.channel.advanceTimeBy(2, TimeUnit.SECONDS);
    harness.channel.runScheduledPendingTasks();
    assertThat(harness.goodbye().text()).contains("5000 ms");
  }

  @Test
  void whoAuthenticatesButDoesNotAttachIsEndedToo() {
    harness.anonymous();
    harness.sent();
    harness.channel.advanceTimeBy(5, TimeUnit.SECONDS);
    harness.channel.runScheduledPendingTasks();
    assertThat(harness.goodbye().code()).isEqualTo(FaultCode.PROTOCOL_ERROR);
    assertThat(harness.ledger.exposedBytes()).isZero();
  }

  /** Many logins at once keep the admin loop busy, and each is checked in its turn. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLoginThatIsCheckedWhenItsTimeIsOverIsNotLetIn(boolean anonymous) throws Exception {
    List<Runnable> later = new ArrayList<>();
    harness.hello();
    if (anonymous) {
      harness.adminLater = later;
      harness.send(new Frame.AuthStart("ANONYMOUS", new byte[0]));
    } else {
      ScramClient scram = new ScramClient("ada", "secret", new SecureRandom());
      harness.send(new Frame.AuthStart(ScramClient.MECHANISM, scram.first()));
      byte[] challenge = harness.sent(Frame.AuthChallenge.class).data();
      harness.adminLater = later;
      harness.send(new Frame.AuthResponse(scram.respond(challenge)));
    }
    assertThat(later).as("logins to be checked").hasSize(1);
    NeverReads peer = new NeverReads();
    harness.channel.pipeline().addFirst(peer);
    harness.pass(5_000);
    assertThat(harness.channel.isOpen()).as("open until its goodbye has left").isTrue();
    assertThat(peer.written).as("its goodbye").isEqualTo(1);

    later.get(0).run();
    harness.channel.runPendingTasks();
    assertThat(peer.written).as("with what is behind the goodbye").isEqualTo(1);
    harness.send(new Frame.Attach(1, ConnectionHarness.LINK, 1, 1, null));

    assertThat(harness.commands).isEmpty();
  }

  @Test
  void anAttachedConnectionOutlivesTheHandshakeLimit() {
    harness.attached();
    harness.channel.advanceTimeBy(6, TimeUnit.SECONDS);
    harness.channel.runScheduledPendingTasks();
    assertThat(harness.channel.isActive()).isTrue();
  }

  @Test
  void theFirstFrameAfterAuthenticationMustBeAttach() {
    harness.anonymous();
    harness.sent();
    harness.send(new Frame.OpenSession(1, 1));
    assertThat(harness.goodbye().text()).contains("Attach").contains("OpenSession");
  }

  @Test
  void anAttachThatTheShardRefusesEndsTheConnectionWithItsCode() {
    harness.anonymous();
    harness.sent();
    harness.send(new Frame.Attach(1, ConnectionHarness.LINK, 1, 1, "taken"));
    Command.Attach attach = harness.last(Command.Attach.class);
    assertThat(attach.clientId()).isEqualTo("taken");
    attach.peer().reply(1, new Peer.Reply.Failed(FaultCode.CLIENT_ID_IN_USE, "in use"));
    List<Frame> sent = harness.sent();
    assertThat(sent).hasSize(2);
    assertThat(((Frame.Fault) sent.get(0)).code()).isEqualTo(FaultCode.CLIENT_ID_IN_USE);
    assertThat(((Frame.Goodbye) sent.get(1)).code()).isEqualTo(FaultCode.CLIENT_ID_IN_USE);
  }

  private EmbeddedChannel authenticated() {
    EmbeddedChannel channel = harness.open("127.0.0.1");
    for (Frame frame :
        List.of(Protocol.hello("test"), new Frame.AuthStart("ANONYMOUS", new byte[0]))) {
      channel.writeInbound(FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT));
      channel.runPendingTasks();
    }
    return channel;
  }

  @Test
  void usersAboveTheLimitAreRefusedWithTheLimitNamed() {
    for (int i = 0; i < 8; i++) {
      assertThat(authenticated().isActive()).isTrue();
    }
    harness.anonymous();
    assertThat(harness.goodbye().code()).isEqualTo(FaultCode.LIMIT_REACHED);
    assertThat(harness.connections.count()).isEqualTo(8);
    assertThat(harness.connections.refused()).isEqualTo(1);
  }

  @Test
  void aConnectionThatEndsBeforeItIsSetUpKeepsNoPlace() {
    int before = harness.connections.halfOpen();
    EmbeddedChannel gone =
        new EmbeddedChannel(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                channel.close();
                channel.pipeline().addLast(harness.connections);
              }
            });
    gone.runPendingTasks();
    assertThat(gone.isOpen()).isFalse();
    assertThat(harness.connections.halfOpen()).isEqualTo(before);
  }

  @Test
  void whoHasNotSaidWhoHeIsTakesNoPlaceOfAUser() {
    List<EmbeddedChannel> bare = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      bare.add(harness.open("10.9.9.9"));
      bare.get(i).runPendingTasks();
    }
    assertThat(authenticated().isActive()).isTrue();
    bare.forEach(EmbeddedChannel::runPendingTasks);
    assertThat(bare.stream().filter(EmbeddedChannel::isActive).count())
        .isEqualTo(ConnectionPlaces.HALF_OPEN_PER_ADDRESS);
    assertThat(harness.connections.refused())
        .isEqualTo(1_000 - ConnectionPlaces.HALF_OPEN_PER_ADDRESS);
  }

  /** It stands in front of each message, with a byte for its length. */
  @Test
  void aUserNameThatNoMessageCanCarryIsNoUser() {
    assertThat(new Principal("\u20ac".repeat(85), Set.of()).name()).hasSize(85);
    assertThatThrownBy(() -> new Principal("\u20ac".repeat(85) + "a", Set.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("256");
    assertThatThrownBy(() -> new Principal("", Set.of()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** Else one client could repeat whole logins beyond the limit without a pause. */
  @Test
  void whoIsBeyondTheLimitOfConnectionsIsToldLate() {
    ConnectionHarness harness =
        new ConnectionHarness(
            new ConnectionSettings(
                new ConnectionSettings.Counts(1, 3, 4, 5, 16),
                ConnectionHarness.SETTINGS.sizes(),
                ConnectionSettings.Patience.defaults()),
            "127.0.0.1");
    EmbeddedChannel first = harness.open("127.0.0.1");
    for (Frame frame :
        List.of(Protocol.hello("x"), new Frame.AuthStart("ANONYMOUS", new byte[0]))) {
      first.writeInbound(FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT));
      first.runPendingTasks();
    }
    harness.anonymous();
    assertThat(harness.sent()).as("what is told at once").isEmpty();
    assertThat(harness.goodbye().code()).isEqualTo(FaultCode.LIMIT_REACHED);
  }

  /** Takes nothing from the broker, so that what is written stays on its way. */
  private static final class NeverReads extends ChannelOutboundHandlerAdapter {
    private int written;

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
      written++;
      ReferenceCountUtil.release(message);
    }
  }
}
