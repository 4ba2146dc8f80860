package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * A client that freezes (SIGSTOP) with messages in hand: they must reach another consumer, flagged,
 * and when it thaws, its late acknowledgement must be refused.
 */
final class StoppedClient {

  private static final String QUEUE = "stopped";
  private static final int MESSAGES = 20;
  private static final int BYTES = 200;
  private static final long RECEIVE_MILLIS = 1_000;

  private final BrokerSetup setup;
  private final int frozenSeconds;
  private final Findings findings = new Findings();
  private final SendLog sends = new SendLog(1, QUEUE, 1);
  private final DeliveryLog deliveries = DeliveryLog.single(QUEUE);
  private int frozen;

  StoppedClient(BrokerSetup setup, int frozenSeconds) {
    this.setup = setup;
    this.frozenSeconds = frozenSeconds;
  }

  Verdict run() throws JMSException, IOException, InterruptedException, HarnessException {
    try (BrokerProcess broker = BrokerProcess.start(setup);
        Connection connection = new LightmqConnectionFactory(setup.uri()).createConnection()) {
      connection.start();
      Bulk.send(connection, sends, MESSAGES, BYTES);
      Process client = startClient();
      try (BufferedReader answers = client.inputReader(StandardCharsets.UTF_8)) {
        String holding = answers.readLine();
        if (holding == null || !holding.startsWith(HoldingClient.HOLDING)) {
          throw new HarnessException("the client said '" + holding + "' before it held anything");
        }
        Shell.run("kill", "-STOP", String.valueOf(client.pid()));
        frozen++;
        receiveWhatItHeld(connection);
        Shell.run("kill", "-CONT", String.valueOf(client.pid()));
        askForTheAcknowledgement(client, answers);
      } finally {
        client.destroyForcibly();
      }
      receiveFor(connection, RECEIVE_MILLIS);
      findings.require(Check.of(List.of(sends), List.of(deliveries)));
      findings.require(broker.isAlive(), "the broker lives");
    }
    return findings.verdict(1, frozen, sends.confirmedCount());
  }

  private Process startClient() throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile", ""),
            "-cp",
            System.getProperty("java.class.path"),
            HoldingClient.class.getName(),
            setup.uri(),
            QUEUE,
            String.valueOf(MESSAGES))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private void receiveWhatItHeld(Connection connection) throws JMSException {
    long beganNanos = System.nanoTime();
    long firstMillis = receiveFor(connection, frozenSeconds * 1_000L);
    long tookMillis = (System.nanoTime() - beganNanos) / 1_000_000;
    findings.require(
        deliveries.deliveries() == MESSAGES,
        "%d of %d messages of the frozen client came to another one, the first after %,d ms of %,d",
        deliveries.deliveries(),
        MESSAGES,
        firstMillis,
        tookMillis);
    findings.require(
        deliveries.flaggedFirst() == MESSAGES,
        "%d of %d have JMSRedelivered",
        deliveries.flaggedFirst(),
        MESSAGES);
  }

  /** Receives all that comes in the given time; returns when the first one came. */
  private long receiveFor(Connection connection, long limitMillis) throws JMSException {
    long beganNanos = System.nanoTime();
    long firstMillis = -1;
    try (Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
        MessageConsumer consumer = session.createConsumer(session.createQueue(QUEUE))) {
      long elapsedMillis = 0;
      while (elapsedMillis < limitMillis) {
        Message message = consumer.receive(Math.min(RECEIVE_MILLIS, limitMillis - elapsedMillis));
        elapsedMillis = (System.nanoTime() - beganNanos) / 1_000_000;
        if (message != null) {
          firstMillis = firstMillis < 0 ? elapsedMillis : firstMillis;
          Stamp stamp = Consumers.log("other", message, deliveries);
          session.commit();
          if (stamp != null) {
            deliveries.settled(List.of(stamp));
          }
        }
      }
    }
    return firstMillis;
  }

  private void askForTheAcknowledgement(Process client, BufferedReader answers) throws IOException {
    try (OutputStream words = client.getOutputStream()) {
      words.write('\n');
    }
    String answer = answers.readLine();
    findings.require(
        answer != null && answer.startsWith(HoldingClient.REFUSED),
        "the late acknowledgement: %s",
        answer);
  }
}
