package io.lightmq.samples;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TextMessage;

/** Asks a question through a queue and gets the answer in a temporary queue of its own. */
final class RequestReply {

  private static final long ANSWER_LIMIT_MILLIS = 10_000;

  private RequestReply() {}

  public static void main(String[] arguments) throws JMSException {
    String[] given =
        Usage.of(
                "usage: RequestReply [TEXT]   asks through a queue, answers to a temporary queue",
                0)
            .check(arguments);
    String question = given.length > 0 ? String.join(" ", given) : "how are you?";
    var factory = new LightmqConnectionFactory(Samples.brokerUri());
    try (JMSContext server = factory.createContext();
        JMSContext client = factory.createContext()) {
      Queue questions = server.createQueue("questions");
      server.createConsumer(questions).setMessageListener(message -> answer(server, message));

      TemporaryQueue answers = client.createTemporaryQueue();
      TextMessage request = client.createTextMessage(question);
      request.setJMSReplyTo(answers);
      client.createProducer().send(questions, request);
      Message answer = client.createConsumer(answers).receive(ANSWER_LIMIT_MILLIS);
      if (answer == null) {
        throw new JMSException("no answer within " + ANSWER_LIMIT_MILLIS + " ms");
      }
      boolean ours = request.getJMSMessageID().equals(answer.getJMSCorrelationID());
      System.out.println(answer.getBody(String.class) + (ours ? "" : " (not our question!)"));
    }
  }

  private static void answer(JMSContext context, Message question) {
    try {
      context
          .createProducer()
          .setJMSCorrelationID(question.getJMSMessageID())
          .send(question.getJMSReplyTo(), "you asked: " + question.getBody(String.class));
    } catch (JMSException e) {
      throw new JMSRuntimeException(e.getMessage(), e.getErrorCode(), e);
    }
  }
}
