package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.sessions.Subscribing;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Names that are kept and shown for long have no control characters when they are made. */
class NewNamesTest {
  private static final DestinationName NEWS = new DestinationName(DestinationKind.TOPIC, "news");

  @RegisterExtension final BrokerHarness h = new BrokerHarness(43);

  private static String text(Peer.Reply reply) {
    return reply instanceof Peer.Reply.Failed failed ? failed.code() + ": " + failed.text() : "OK";
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\u001b[2J", "a\nb", "a\u0000", "a\u009bb", "\u007f"})
  void aClientIdWithControlCharactersIsRefused(String id) throws IOException {
    h.open();
    FakePeer peer = h.attach(new UUID(43, 1), 1, 1, null);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.SetClientId(peer, c, id));
    assertThat(text(h.reply(peer, c)))
        .startsWith("BAD_REQUEST: a client id has no control characters, this one is \"");
  }

  @ParameterizedTest
  @EnumSource(
      value = Subscribe.class,
      names = {"SHARED", "DURABLE", "SHARED_DURABLE"})
  void aNewSubscriptionWithControlCharactersIsRefused(Subscribe subscribe) throws IOException {
    h.open();
    FakePeer peer = h.attach(new UUID(43, 1), 1, 1, "client");
    assertThat(text(h.tryConsumer(peer, 1, NEWS, subscribe, "daily\u001b[2J")))
        .isEqualTo(
            FaultCode.INVALID_SUBSCRIPTION
                + ": a subscription's name has no control characters, this one is"
                + " \"daily\\u001b[2J\"");
    assertThat(text(h.tryConsumer(peer, 1, NEWS, subscribe, "täglich 注文"))).isEqualTo("OK");
  }

  @Test
  void whoHadSuchANameBeforeMayComeBack() {
    assertThat(Subscribing.hasControl("x\u0000")).isTrue();
    assertThat(Sessions.mayBeClientId("x\u0000", id -> false)).isFalse();
    assertThat(Sessions.mayBeClientId("x\u0000", id -> true)).isTrue();
  }
}
