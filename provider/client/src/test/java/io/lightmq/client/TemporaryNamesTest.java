package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.wire.Frame;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.TemporaryName;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Queue;
import jakarta.jms.ResourceAllocationException;
import jakarta.jms.Session;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TemporaryTopic;
import jakarta.jms.Topic;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A temporary destination keeps its name, by which it can be found. */
class TemporaryNamesTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private ScriptedBroker broker;

  @BeforeEach
  void start() throws Exception {
    broker = rig.broker();
    broker.nothingThere();
    broker.on(
        Frame.Hello.class,
        hello -> {
          Frame.Welcome old = ScriptedBroker.welcome();
          return List.of(
              new Frame.Welcome(
                  old.version(),
                  hello.features() & Protocol.TEMPORARY_BY_LINK,
                  old.storeId(),
                  old.maxFrameBytes(),
                  old.maxMessageBytes(),
                  old.maxTransactionBytes(),
                  old.heartbeatMillis()));
        });
    broker.on(
        Frame.CreateTemporary.class,
        create ->
            List.of(
                new Frame.TemporaryCreated(
                    create.correlation(), name(create.kind(), create.number()))));
  }

  private static DestinationName name(DestinationKind kind, long number) {
    byte[] bytes = new byte[TemporaryName.BYTES];
    bytes[0] = (byte) number;
    return TemporaryName.of(kind, bytes);
  }

  private Connection connect(String options) throws JMSException {
    Connection connection = rig.connect("&batchBytes=1" + options);
    connection.start();
    return connection;
  }

  @Test
  void afterALossTheyAreAskedForAgainByTheirNumbersBeforeAnythingUsesThem() throws Exception {
    try (Connection connection = connect("")) {
      Session session = connection.createSession();
      TemporaryQueue first = session.createTemporaryQueue();
      TemporaryTopic second = session.createTemporaryTopic();
      String names = first.getQueueName() + second.getTopicName();
      session.createConsumer(first);
      session.createProducer(first);
      assertThat(broker.seen(Frame.CreateTemporary.class))
          .extracting(Frame.CreateTemporary::number)
          .containsExactly(1L, 2L);
      broker.cut();
      Awaitility.await().until(() -> broker.seen(Frame.AttachConsumer.class).size() == 2);
      List<Frame> all = broker.seen(Frame.class);
      List<Frame> since =
          all.subList(all.lastIndexOf(broker.seen(Frame.Attach.class).get(1)), all.size());
      assertThat(since)
          .filteredOn(Frame.CreateTemporary.class::isInstance)
          .extracting(each -> ((Frame.CreateTemporary) each).number())
          .containsExactly(1L, 2L);
      assertThat(since)
          .filteredOn(
              each ->
                  each instanceof Frame.CreateTemporary
                      || each instanceof Frame.AttachProducer
                      || each instanceof Frame.AttachConsumer)
          .extracting(each -> each instanceof Frame.CreateTemporary)
          .startsWith(true, true)
          .endsWith(false, false);
      assertThat(first.getQueueName() + second.getTopicName()).isEqualTo(names);
    }
  }

  @Test
  void aBrokerBeforeNumbersIsSentNone() throws Exception {
    broker.on(Frame.Hello.class, hello -> List.of(ScriptedBroker.welcome()));
    try (Connection connection = connect("")) {
      connection.createSession().createTemporaryQueue();
      assertThat(broker.seen(Frame.CreateTemporary.class))
          .extracting(Frame.CreateTemporary::number)
          .containsExactly(0L);
    }
  }

  @Test
  void whatTheBrokerPutsOffIsAskedForAgain() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    broker.on(
        Frame.AttachProducer.class,
        attach ->
            List.of(
                asked.incrementAndGet() < 3
                    ? new Frame.Fault(attach.correlation(), FaultCode.RETRY_LATER, "wait", 0)
                    : new Frame.ProducerAttached(attach.correlation(), 1)));
    try (Connection connection = connect("")) {
      Session session = connection.createSession();
      session.createProducer(session.createQueue(name(DestinationKind.TEMPORARY_QUEUE, 9).name()));
      assertThat(asked.get()).isEqualTo(3);
    }
  }

  @Test
  void notForEver() throws Exception {
    broker.on(
        Frame.AttachProducer.class,
        attach -> List.of(new Frame.Fault(attach.correlation(), FaultCode.RETRY_LATER, "wait", 0)));
    try (Connection connection = connect("&requestTimeoutMillis=300")) {
      Session session = connection.createSession();
      Queue queue = session.createQueue("orders");
      assertThatThrownBy(() -> session.createProducer(queue))
          .isInstanceOf(ResourceAllocationException.class)
          .hasMessageContaining("wait");
    }
  }

  @Test
  void aNameIsTheDestinationThatHasIt() throws Exception {
    try (Connection connection = connect("")) {
      Session session = connection.createSession();
      TemporaryQueue queue = session.createTemporaryQueue();
      TemporaryTopic topic = session.createTemporaryTopic();
      Queue sameQueue = session.createQueue(queue.getQueueName());
      Topic sameTopic = session.createTopic(topic.getTopicName());
      assertThat(sameQueue).isEqualTo(queue).isInstanceOf(TemporaryQueue.class);
      assertThat(sameTopic).isEqualTo(topic).isInstanceOf(TemporaryTopic.class);
      session.createProducer(sameQueue);
      session.createProducer(new LightmqTopic(topic.getTopicName()));
      session.createProducer(new LightmqQueue(queue.getQueueName()));
      assertThat(broker.seen(Frame.AttachProducer.class))
          .extracting(attach -> attach.destination().kind())
          .containsExactly(
              DestinationKind.TEMPORARY_QUEUE,
              DestinationKind.TEMPORARY_TOPIC,
              DestinationKind.TEMPORARY_QUEUE);
    }
  }
}
