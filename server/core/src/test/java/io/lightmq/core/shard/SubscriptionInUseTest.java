package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Jakarta Messaging 3.1, 8.3.3 and 8.3.4: what an active consumer of a subscription forbids. */
class SubscriptionInUseTest {
  private static final DestinationName NEWS = new DestinationName(DestinationKind.TOPIC, "news");
  private static final DestinationName OTHER = new DestinationName(DestinationKind.TOPIC, "other");

  @RegisterExtension final BrokerHarness h = new BrokerHarness(41);

  private FakePeer withConsumer(Subscribe subscribe) throws IOException {
    h.open();
    FakePeer peer = h.attach(new UUID(41, 1), 1, 1, "client");
    h.consumer(peer, 1, NEWS, subscribe, "sub");
    return peer;
  }

  private static FaultCode code(Peer.Reply reply) {
    return reply instanceof Peer.Reply.Failed failed ? failed.code() : FaultCode.OK;
  }

  private FaultCode unsubscribe(FakePeer peer) {
    int c = h.nextCorrelation();
    h.broker.submit(new Command.Unsubscribe(peer, c, "sub"));
    return code(h.reply(peer, c));
  }

  @ParameterizedTest
  @CsvSource({
    "DURABLE, news, DURABLE, IN_USE",
    "DURABLE, other, DURABLE, IN_USE",
    "DURABLE, news, SHARED_DURABLE, IN_USE",
    "SHARED_DURABLE, news, SHARED_DURABLE, OK",
    "SHARED_DURABLE, other, SHARED_DURABLE, IN_USE",
    "SHARED_DURABLE, news, DURABLE, IN_USE",
    "SHARED, news, SHARED, OK",
    "SHARED, other, SHARED, IN_USE",
    "SHARED, news, SHARED_DURABLE, OK"
  })
  void aSecondConsumerJoinsOnlyTheSameSharedSubscription(
      Subscribe first, String topic, Subscribe second, FaultCode expected) throws IOException {
    FakePeer peer = withConsumer(first);
    DestinationName name = topic.equals("news") ? NEWS : OTHER;
    assertThat(code(h.tryConsumer(peer, 2, name, second, "sub"))).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "DURABLE, news, DURABLE, OK",
    "DURABLE, other, DURABLE, OK",
    "DURABLE, news, SHARED_DURABLE, INVALID_SUBSCRIPTION",
    "SHARED_DURABLE, other, SHARED_DURABLE, OK",
    "SHARED_DURABLE, news, DURABLE, INVALID_SUBSCRIPTION"
  })
  void withoutConsumersOnlyTheKindMustBeTheSame(
      Subscribe first, String topic, Subscribe second, FaultCode expected) throws IOException {
    FakePeer peer = withConsumer(first);
    h.broker.submit(new Command.DetachConsumer(peer, h.nextCorrelation(), 1));
    DestinationName name = topic.equals("news") ? NEWS : OTHER;
    assertThat(code(h.tryConsumer(peer, 2, name, second, "sub"))).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({"DURABLE", "SHARED_DURABLE"})
  void aSubscriptionWithAConsumerCannotBeEnded(Subscribe subscribe) throws IOException {
    FakePeer peer = withConsumer(subscribe);
    assertThat(unsubscribe(peer)).isEqualTo(FaultCode.IN_USE);
    h.broker.submit(new Command.DetachConsumer(peer, h.nextCorrelation(), 1));
    assertThat(unsubscribe(peer)).isEqualTo(FaultCode.OK);
    assertThat(unsubscribe(peer)).isEqualTo(FaultCode.INVALID_SUBSCRIPTION);
  }

  @Test
  void theRefusalSaysWhatToDo() throws IOException {
    FakePeer peer = withConsumer(Subscribe.DURABLE);
    assertThat(h.tryConsumer(peer, 2, NEWS, Subscribe.DURABLE, "sub"))
        .isInstanceOfSatisfying(
            Peer.Reply.Failed.class,
            failed ->
                assertThat(failed.text())
                    .isEqualTo("subscription \"sub\" has an active consumer; close that first"));
  }
}
