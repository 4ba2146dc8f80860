package io.lightmq.node.connection;

import io.lightmq.spi.Authenticator.Credential;
import io.lightmq.spi.Principal;
import io.lightmq.wire.Frame;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import io.lightmq.wire.scram.ScramClient;
import io.lightmq.wire.scram.ScramCredential;
import io.lightmq.wire.scram.ScramException;
import io.lightmq.wire.scram.ScramServer;
import io.netty.channel.Channel;
import io.netty.channel.local.LocalAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The first frames of a connection, up to a known user. On the event loop, but for what may block
 * or computes long, which runs on the admin loop while the client waits; a frame that comes in that
 * time is a violation.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write that fails closes the channel
final class Handshake {
  private static final Logger log = LoggerFactory.getLogger(Handshake.class);
  private static final String ANONYMOUS = "ANONYMOUS";
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Door door;
  private final long connectionId;
  private final Channel channel;
  private final PeerLog peerLog;
  private final Events events;
  private Step step = Step.HELLO;
  private @Nullable ScramServer scram;

  /** What the challenge was made from, if the user is known. */
  private byte @Nullable [] challenged;

  private long features;

  private enum Step {
    HELLO,
    AUTH_START,
    AUTH_RESPONSE,
    /** The admin loop is at work. */
    BUSY,
    DONE
  }

  /** What comes of it; called on the event loop. */
  interface Events {
    /**
     * The user is known; called before the client is told. False if there is no place for him.
     *
     * @param features that both sides know
     */
    boolean authenticated(Principal principal, long connectionId, long features);

    /** The connection is to end. */
    void end(FaultCode code, String text);
  }

  /** What is to happen on the event loop once the admin loop is done. */
  private interface Outcome {
    void apply();
  }

  Handshake(Door door, long connectionId, Channel channel, PeerLog peerLog, Events events) {
    this.door = door;
    this.connectionId = connectionId;
    this.channel = channel;
    this.peerLog = peerLog;
    this.events = events;
  }

  long connectionId() {
    return connectionId;
  }

  void read(Frame frame) throws ProtocolRefusal {
    if (step == Step.HELLO && frame instanceof Frame.Hello hello) {
      hello(hello);
    } else if (step == Step.AUTH_START && frame instanceof Frame.AuthStart start) {
      authStart(start);
    } else if (step == Step.AUTH_RESPONSE && frame instanceof Frame.AuthResponse response) {
      authResponse(response);
    } else {
      throw ProtocolRefusal.protocol(
          frame.getClass().getSimpleName()
              + " is out of order in the handshake, at "
              + step
              + "; a client begins with Hello, then AuthStart, AuthResponse if it is asked,"
              + " Attach");
    }
  }

  private void hello(Frame.Hello hello) {
    int version = Protocol.negotiate(hello);
    features = Protocol.features(hello);
    step = Step.AUTH_START;
    ConnectionSettings settings = door.settings();
    channel.writeAndFlush(
        new Frame.Welcome(
            version,
            features,
            door.storeId(),
            // Deliveries have a limit of their own, and what is stored may be longer than what is
            // taken today: only the format bounds what this side may have to send.
            Protocol.MAX_FRAME_BYTES,
            settings.sizes().maxMessageBytes(),
            settings.sizes().maxTransactionBytes(),
            settings.patience().heartbeatMillis()));
  }

  private void authStart(Frame.AuthStart start) throws ProtocolRefusal {
    switch (start.mechanism()) {
      case ANONYMOUS -> {
        if (start.data().length > 0) {
          throw ProtocolRefusal.protocol(
              ANONYMOUS
                  + " comes without data, not with "
                  + start.data().length
                  + " bytes; a user and password go with "
                  + ScramClient.MECHANISM);
        }
        onAdmin(this::anonymous);
      }
      case ScramClient.MECHANISM -> onAdmin(() -> challenge(start.data()));
      default ->
          throw ProtocolRefusal.protocol(
              "mechanism "
                  + Printable.of(start.mechanism())
                  + " is unknown; known are "
                  + ANONYMOUS
                  + " and "
                  + ScramClient.MECHANISM
                  + "; use one of these");
    }
  }

  private Outcome anonymous() {
    Principal principal =
        door.security().authenticator().anonymous(isLoopback(channel.remoteAddress())).orElse(null);
    if (principal == null) {
      return refused(
          "give a user and password: without them a connection is accepted only from the broker's"
              + " own machine, while it listens to that machine alone and its setting"
              + " security.anonymous is true");
    }
    return () -> done(principal, new byte[0]);
  }

  private static boolean isLoopback(@Nullable SocketAddress address) {
    if (address instanceof InetSocketAddress inet) {
      return inet.getAddress() != null && inet.getAddress().isLoopbackAddress();
    }
    return address instanceof LocalAddress;
  }

  private Outcome challenge(byte[] data) {
    ScramServer exchange =
        new ScramServer(
            door.security().unknownUserKey(), ScramCredential.DEFAULT_ITERATIONS, RANDOM);
    try {
      Credential found = door.security().authenticator().find(exchange.start(data)).orElse(null);
      byte[] challenge =
          exchange.challenge(
              found == null
                  ? null
                  : new ScramCredential(
                      found.salt(), found.iterations(), found.storedKey(), found.serverKey()));
      return () -> {
        scram = exchange;
        challenged = found == null ? null : found.storedKey();
        step = Step.AUTH_RESPONSE;
        channel.writeAndFlush(new Frame.AuthChallenge(challenge));
      };
    } catch (ScramException e) {
      return refused(String.valueOf(e.getMessage()));
    }
  }

  private void authResponse(Frame.AuthResponse response) {
    ScramServer exchange = scram;
    byte[] storedKey = challenged;
    if (exchange == null) {
      throw new AssertionError("a response is expected without a challenge");
    }
    onAdmin(
        () -> {
          try {
            byte[] signature = exchange.finish(response.data());
            if (storedKey == null) {
              throw new AssertionError("a user without a credential passed the exchange");
            }
            Credential now = door.security().authenticator().find(exchange.userName()).orElse(null);
            if (now == null || !MessageDigest.isEqual(now.storedKey(), storedKey)) {
              // Removed, or given another password, while the handshake was held open.
              return refused(Printable.of(exchange.userName()) + ": " + ScramServer.REFUSED);
            }
            return () -> done(now.principal(), signature);
          } catch (ScramException e) {
            return refused(Printable.of(exchange.userName()) + ": " + e.getMessage());
          }
        });
  }

  private Outcome refused(String text) {
    return () -> events.end(FaultCode.AUTHENTICATION_FAILED, text);
  }

  /**
   * The user is in. One who is removed from now on is ended behind this: the admin loop removes him
   * after it handed this over, and the event loop keeps that order.
   */
  private void done(Principal principal, byte[] data) {
    step = Step.DONE;
    if (!events.authenticated(principal, connectionId, features)) {
      return;
    }
    channel.writeAndFlush(new Frame.AuthDone(data, connectionId, principal.name()));
  }

  private void onAdmin(Callable<Outcome> work) {
    step = Step.BUSY;
    try {
      door.admin().execute(() -> backOnLoop(outcomeOf(work)));
    } catch (RejectedExecutionException e) {
      events.end(FaultCode.RETRY_LATER, "too many connections want to authenticate; try again");
    }
  }

  /** An authenticator's failure refuses one connection, it does not end the loop. */
  private Outcome outcomeOf(Callable<Outcome> work) {
    try {
      return work.call();
    } catch (Exception e) {
      peerLog.write(
          Level.ERROR, channel, "The authenticator failed for connection {}", connectionId, e);
      return () ->
          events.end(
              FaultCode.RETRY_LATER,
              "the broker could not check the user; its log says why, connect again later");
    }
  }

  private void backOnLoop(Outcome outcome) {
    try {
      channel
          .eventLoop()
          .execute(
              () -> {
                if (channel.isActive()) {
                  outcome.apply();
                }
              });
    } catch (RejectedExecutionException e) {
      log.debug("Connection {} ended during its handshake", connectionId);
    }
  }
}
