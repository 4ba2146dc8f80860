package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.Destination;
import jakarta.jms.Session;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The last look, on a broker in this process. */
class FinalDrainTest {
  private final ConnectionFactory factory = new LightmqConnectionFactory("lightmq:mem:final-drain");
  private final SendLog sends = new SendLog(1, "q", 1);
  private final DeliveryLog log = DeliveryLog.single("q");
  private Connection connection;
  private Session session;

  @BeforeEach
  void connect() throws Exception {
    connection = factory.createConnection();
    session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
  }

  @AfterEach
  void close() throws Exception {
    connection.close();
  }

  private void send(Destination destination, int count) throws Exception {
    for (int i = 0; i < count; i++) {
      Stamp stamp = sends.next();
      BytesMessage message = session.createBytesMessage();
      message.writeBytes(Payload.of(stamp, 20));
      session.createProducer(destination).send(message);
      sends.confirmed(stamp);
    }
  }

  private Check check() {
    return Check.of(List.of(sends), List.of(log));
  }

  @Test
  void itTakesWhatAQueueHasLeft() throws Exception {
    send(session.createQueue("q"), 5);
    assertThat(check().lost()).isEqualTo(5);
    FinalDrain.queue(factory, log);
    assertThat(check().violations()).isEmpty();
    FinalDrain.queue(factory, log);
    assertThat(log.repeated()).as("taken by the second drain").isZero();
  }

  @Test
  void itFindsWhatWasSettledAndIsStillThere() throws Exception {
    send(session.createQueue("q"), 2);
    log.delivered("c", new Stamp(1, 1), false, 0);
    log.settled(List.of(new Stamp(1, 1)));
    FinalDrain.queue(factory, log);
    assertThat(check().violations())
        .anyMatch(text -> text.contains("1/1 came to the final drain after its acknowledgement"));
  }

  @Test
  void itTakesWhatADurableSubscriptionHasLeft() throws Exception {
    try (Connection subscriber = factory.createConnection()) {
      subscriber.setClientID("faults-durable");
      Session own = subscriber.createSession();
      own.createDurableConsumer(own.createTopic("q"), "durable").close();
    }
    send(session.createTopic("q"), 3);
    FinalDrain.durable(factory, "faults-durable", "durable", log);
    assertThat(check().violations()).isEmpty();
  }

  @Test
  void aBacklogIsToldByDestination() {
    BrokerMetrics metrics =
        BrokerMetrics.parse(
            """
            lightmq_backlog_messages{destination="q",kind="queue"} 0.0
            lightmq_backlog_messages{destination="t",subscription="a"} 1.0
            lightmq_backlog_messages{destination="t",subscription="b"} 2.0
            """);
    assertThat(FinalDrain.leftOver(metrics, List.of("q"))).isEmpty();
    assertThat(FinalDrain.leftOver(metrics, List.of("q", "t")))
        .containsExactly("t: 3 messages wait after everything was taken");
    assertThat(FinalDrain.leftOver(BrokerMetrics.parse(""), List.of("q")))
        .as("a page without the figure proves nothing")
        .hasSize(1);
  }
}
