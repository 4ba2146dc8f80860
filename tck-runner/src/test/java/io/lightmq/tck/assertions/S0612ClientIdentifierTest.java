package io.lightmq.tck.assertions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.Connection;
import jakarta.jms.IllegalStateException;
import jakarta.jms.IllegalStateRuntimeException;
import jakarta.jms.InvalidClientIDException;
import jakarta.jms.InvalidClientIDRuntimeException;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Session;
import jakarta.jms.Topic;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Jakarta Messaging 3.1 section 6.1.2: client identifier. */
class S0612ClientIdentifierTest {

  @TempDir Path folder;
  private BrokerFolder broker;

  @BeforeEach
  void open() {
    broker = new BrokerFolder(folder);
  }

  @AfterEach
  void close() {
    broker.close();
  }

  /** What a client may do with a connection before it sets the identifier, but must not. */
  enum Use {
    START {
      @Override
      void on(Connection connection) throws JMSException {
        connection.start();
      }
    },
    STOP {
      @Override
      void on(Connection connection) throws JMSException {
        connection.stop();
      }
    },
    SESSION {
      @Override
      void on(Connection connection) throws JMSException {
        connection.createSession().close();
      }
    },
    CLIENT_ID {
      @Override
      void on(Connection connection) throws JMSException {
        connection.setClientID("first");
      }
    };

    abstract void on(Connection connection) throws JMSException;
  }

  @ParameterizedTest
  @EnumSource
  void itCanOnlyBeSetBeforeAnyOtherUse(Use use) throws Exception {
    try (Connection connection = broker.factory().createConnection()) {
      use.on(connection);
      String before = connection.getClientID();
      assertThatThrownBy(() -> connection.setClientID("late"))
          .isInstanceOf(IllegalStateException.class);
      assertThat(connection.getClientID()).isEqualTo(before);
    }
  }

  @Test
  void anAdministeredOneCannotBeChanged() throws Exception {
    LightmqConnectionFactory factory = broker.factory();
    factory.setClientId("administered");
    try (Connection connection = factory.createConnection()) {
      assertThat(connection.getClientID()).isEqualTo("administered");
      assertThatThrownBy(() -> connection.setClientID("other"))
          .isInstanceOf(IllegalStateException.class);
      assertThat(connection.getClientID()).isEqualTo("administered");
    }
    try (JMSContext context = factory.createContext()) {
      assertThatThrownBy(() -> context.setClientID("other"))
          .isInstanceOf(IllegalStateRuntimeException.class);
      assertThat(context.getClientID()).isEqualTo("administered");
    }
  }

  @Test
  void onlyOneConnectionAtATimeHasIt() throws Exception {
    Connection first = broker.factory().createConnection();
    first.setClientID("alone");
    try (Connection second = broker.factory().createConnection();
        JMSContext third = broker.factory().createContext()) {
      assertThatThrownBy(() -> second.setClientID("alone"))
          .isInstanceOf(InvalidClientIDException.class);
      assertThatThrownBy(() -> third.setClientID("alone"))
          .isInstanceOf(InvalidClientIDRuntimeException.class);
      first.close();
      assertThatCode(() -> second.setClientID("alone")).doesNotThrowAnyException();
    }
  }

  @Test
  void anEmptyOneIsInvalid() throws Exception {
    try (Connection connection = broker.factory().createConnection()) {
      assertThatThrownBy(() -> connection.setClientID(""))
          .isInstanceOf(InvalidClientIDException.class);
      assertThatThrownBy(() -> connection.setClientID(null))
          .isInstanceOf(InvalidClientIDException.class);
    }
  }

  @Test
  void oneNameIsAnotherDurableSubscriptionForEachClientAcrossRestarts() throws Exception {
    for (String client : new String[] {"ann", "bob"}) {
      try (Connection connection = broker.connect(client)) {
        Session session = connection.createSession();
        session.createDurableConsumer(session.createTopic("news"), "inbox");
      }
    }
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      Topic news = session.createTopic("news");
      session.createProducer(news).send(session.createTextMessage("hello"));
    }
    broker.restart();
    for (String client : new String[] {"ann", "bob"}) {
      try (Connection connection = broker.connect(client)) {
        Session session = connection.createSession();
        var consumer = session.createDurableConsumer(session.createTopic("news"), "inbox");
        assertThat(consumer.receive(BrokerFolder.COMES_MILLIS)).as(client).isNotNull();
        assertThat(consumer.receiveNoWait()).as(client + ", once more").isNull();
      }
    }
  }

  @Test
  void anUnsharedDurableSubscriptionNeedsIt() throws Exception {
    try (Connection connection = broker.connect()) {
      Session session = connection.createSession();
      Topic news = session.createTopic("news");
      assertThatThrownBy(() -> session.createDurableConsumer(news, "inbox"))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> session.createDurableSubscriber(news, "inbox"))
          .isInstanceOf(IllegalStateException.class);
      assertThatCode(() -> session.createSharedDurableConsumer(news, "inbox").close())
          .doesNotThrowAnyException();
    }
  }
}
