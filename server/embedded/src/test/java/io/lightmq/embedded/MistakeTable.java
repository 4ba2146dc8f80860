package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.Connection;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.Topic;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.function.Executable;

/**
 * Mistakes with the exception that the specification names for them, by its section; each exception
 * has an error code of ours and a text.
 */
abstract class MistakeTable {
  static final long WAIT_MILLIS = 20_000;

  private final String name = "lightmq:mem:" + UUID.randomUUID();

  /** What a case works with, made for it alone. */
  final class World implements AutoCloseable {
    final Connection connection = factory("").createConnection();
    final Connection named = factory("?clientId=named" + UUID.randomUUID()).createConnection();
    final Session session;
    final Session transacted;
    final Queue queue;
    final Topic topic;

    World() throws JMSException {
      connection.start();
      session = connection.createSession();
      transacted = connection.createSession(true, 0);
      queue = session.createQueue("q");
      topic = session.createTopic("t");
    }

    /** Sends and receives. */
    <M extends Message> M received(M message) throws JMSException {
      Destination own = session.createTemporaryQueue();
      session.createProducer(own).send(message);
      @SuppressWarnings("unchecked")
      M got = (M) session.createConsumer(own).receive(WAIT_MILLIS);
      return got;
    }

    @Override
    public void close() throws JMSException {
      connection.close();
      named.close();
    }
  }

  LightmqConnectionFactory factory(String options) {
    return new LightmqConnectionFactory(name + options);
  }

  /** A mistake. */
  interface Mistake {
    Executable in(World world) throws Exception;
  }

  record Row(String section, Class<? extends Exception> expected, String what, Mistake mistake) {}

  static Row row(
      String section, Class<? extends Exception> expected, String what, Mistake mistake) {
    return new Row(section, expected, what, mistake);
  }

  /** One test for each row. */
  Stream<DynamicTest> tests(List<Row> rows) {
    return rows.stream()
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.section() + " " + row.what() + ": " + row.expected().getSimpleName(),
                    () -> check(row)));
  }

  private void check(Row row) throws Exception {
    try (World world = new World()) {
      Exception thrown = assertThrows(row.expected(), row.mistake().in(world));
      assertThat(thrown.getMessage()).isNotBlank();
      if (thrown instanceof JMSException jms) {
        assertThat(jms.getErrorCode()).startsWith("LMQ-");
      }
    }
  }
}
