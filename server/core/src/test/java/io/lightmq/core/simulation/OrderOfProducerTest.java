package io.lightmq.core.simulation;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.simulation.Oracle.Arrival;
import io.lightmq.core.simulation.Oracle.Violation;
import io.lightmq.core.simulation.SimulatedPeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the oracle of a producer's order allows behind the end of a broker, and what not. */
class OrderOfProducerTest {
  private static final int DURABLE = LaneCode.durable(4);
  private static final int UNLOGGED = LaneCode.unlogged(4);
  private static final long FIRST_OWNER = 7L << 32;
  private static final long SECOND_OWNER = 8L << 32;

  private final World world = new World(1, Feature.all(), new Plant());
  private final SimulatedDestination topic =
      new SimulatedDestination(
          new DestinationName(DestinationKind.TOPIC, "t"),
          true,
          false,
          world.features,
          world.random);
  private final Client client = new Client(world, 0, null, false, new Wording(world));
  private final OrderOfProducer oracle = new OrderOfProducer(world);

  private Message sent(int order, int era) {
    Message message =
        new Message(
            "m" + order,
            0,
            order,
            topic,
            new Message.Content(false, 4, 0, null, null, 0, 0, 0),
            null);
    message.submitted(order, era, 0);
    return message;
  }

  /** It comes to a subscription of its own, so that nobody sees two in a wrong order. */
  private void comes(Message message, int lane, long sequence) {
    NamedSubscription named =
        new NamedSubscription(world, Subscribe.PLAIN, null, null, List.of(topic));
    Followed followed = new Followed(named, topic, IntRange.ALL, 0);
    Taker taker = new Taker(client, 1, named, followed, IntRange.ALL, false);
    Received received = new Received(1, 5, lane, sequence, 0, message.id, Map.of());
    oracle.arrived(new Arrival(message, message.copy(followed), taker, received, true));
  }

  private void theBrokerEnds() {
    world.start();
    world.end(false);
  }

  @Test
  void whatIsSentToTheNextOwnerMayLieBehindWhatWasSentLater() {
    Message first = sent(1, 0);
    comes(sent(2, 0), UNLOGGED, FIRST_OWNER);
    theBrokerEnds();
    first.submitted(3, 1, 0);
    assertThatCode(
            () -> {
              comes(first, UNLOGGED, SECOND_OWNER);
              comes(sent(3, 1), UNLOGGED, SECOND_OWNER + 1);
            })
        .doesNotThrowAnyException();
  }

  @Test
  void whatWasNotSentToTheNextOwnerMayNot() {
    comes(sent(2, 0), UNLOGGED, FIRST_OWNER);
    theBrokerEnds();
    assertThatThrownBy(() -> comes(sent(1, 0), UNLOGGED, SECOND_OWNER))
        .isInstanceOf(Violation.class);
  }

  @Test
  void whatIsSentLaterLiesLaterThoughTheBrokerEnds() {
    comes(sent(1, 0), UNLOGGED, SECOND_OWNER);
    theBrokerEnds();
    assertThatThrownBy(() -> comes(sent(2, 1), UNLOGGED, FIRST_OWNER))
        .isInstanceOf(Violation.class);
  }

  @Test
  void theSameOwnerStoresInOrder() {
    comes(sent(2, 0), UNLOGGED, FIRST_OWNER);
    assertThatThrownBy(() -> comes(sent(1, 0), UNLOGGED, FIRST_OWNER + 1))
        .isInstanceOf(Violation.class);
  }

  @Test
  void aLaneInRecordsDoesNotEnd() {
    comes(sent(2, 0), DURABLE, FIRST_OWNER);
    theBrokerEnds();
    Message first = sent(1, 0);
    first.submitted(3, 1, 0);
    assertThatThrownBy(() -> comes(first, DURABLE, SECOND_OWNER)).isInstanceOf(Violation.class);
  }
}
