package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Far more queues than a scraper should be told of one by one, on a small heap: the broker is
 * scraped each second, with a look at its health beside each scrape, then killed, and scraped
 * again.
 */
final class ManyQueues {
  private static final int MESSAGES = 3;
  private static final int COMMIT_QUEUES = 100;
  private static final int CHECKED_QUEUES = 50;
  private static final int MOST_SERIES = 40_000;
  private static final long HEALTH_LIMIT_MILLIS = 2_000;
  private static final long SECOND_NANOS = 1_000_000_000L;
  private static final long RECEIVE_MILLIS = 30_000;

  private final BrokerSetup setup;
  private final int queues;
  private final int seconds;
  private final Findings findings = new Findings();
  private final HttpClient client = HttpClient.newHttpClient();
  private long slowestScrapeMillis;
  private long slowestHealthMillis;
  private long mostSeries;
  private long refusedHealth;

  ManyQueues(BrokerSetup setup, int queues, int seconds) {
    this.setup = setup.withJavaOptions("-Xmx128m");
    this.queues = queues;
    this.seconds = seconds;
  }

  Verdict run() throws JMSException, IOException, InterruptedException {
    BrokerProcess broker = BrokerProcess.start(setup);
    try {
      fill();
      scrape(broker, seconds, "before the kill");
      broker.kill();
      broker = BrokerProcess.start(setup);
      findings.note("ready again after %,d ms", broker.startMillis());
      scrape(broker, Math.max(1, seconds / 6), "after it");
      drainSome();
      findings.require(broker.isAlive(), "the broker lives at the end");
    } finally {
      broker.kill();
    }
    return findings.verdict(1, 1, (long) queues * MESSAGES);
  }

  private void fill() throws JMSException {
    long began = System.nanoTime();
    try (Connection connection = connect();
        Session session = connection.createSession(true, Session.SESSION_TRANSACTED)) {
      for (int queue = 0; queue < queues; queue++) {
        try (MessageProducer producer = session.createProducer(session.createQueue(name(queue)))) {
          for (int i = 0; i < MESSAGES; i++) {
            producer.send(session.createTextMessage(queue + ":" + i));
          }
        }
        if (queue % COMMIT_QUEUES == COMMIT_QUEUES - 1) {
          session.commit();
        }
      }
      session.commit();
    }
    findings.note(
        "%,d messages in each of %,d queues after %,d ms",
        MESSAGES, queues, (System.nanoTime() - began) / 1_000_000);
  }

  private void scrape(BrokerProcess broker, int times, String when)
      throws IOException, InterruptedException {
    double backlog = 0;
    for (int i = 0; i < times && broker.isAlive(); i++) {
      long began = System.nanoTime();
      var healthy = client.sendAsync(health(), HttpResponse.BodyHandlers.discarding());
      BrokerMetrics metrics = BrokerMetrics.of(setup);
      slowestScrapeMillis = Math.max(slowestScrapeMillis, (System.nanoTime() - began) / 1_000_000);
      refusedHealth += healthy.join().statusCode() == 200 ? 0 : 1;
      long asked = System.nanoTime();
      client.send(health(), HttpResponse.BodyHandlers.discarding());
      slowestHealthMillis = Math.max(slowestHealthMillis, (System.nanoTime() - asked) / 1_000_000);
      mostSeries = Math.max(mostSeries, metrics.samples().size());
      backlog = metrics.sum("lightmq_backlog_messages", "");
      LockSupport.parkNanos(began + SECOND_NANOS - System.nanoTime());
    }
    findings.require(broker.isAlive(), "%s: alive after %,d scrapes", when, times);
    findings.require(
        (long) backlog == (long) queues * MESSAGES,
        "%s: the series of the backlog sum up to %,.0f of %,d",
        when,
        backlog,
        (long) queues * MESSAGES);
    findings.require(mostSeries <= MOST_SERIES, "%,d series of %,d", mostSeries, MOST_SERIES);
    findings.require(
        slowestHealthMillis <= HEALTH_LIMIT_MILLIS && refusedHealth == 0,
        "health within %,d ms of %,d, %,d times not 200; a scrape took up to %,d ms",
        slowestHealthMillis,
        HEALTH_LIMIT_MILLIS,
        refusedHealth,
        slowestScrapeMillis);
  }

  private HttpRequest health() {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + setup.adminPort() + "/healthz"))
        .timeout(Duration.ofSeconds(10))
        .build();
  }

  private void drainSome() throws JMSException {
    int received = 0;
    int wanted = 0;
    try (Connection connection = connect();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE)) {
      for (int queue = 0; queue < queues; queue += Math.max(1, queues / CHECKED_QUEUES)) {
        try (MessageConsumer consumer = session.createConsumer(session.createQueue(name(queue)))) {
          for (int i = 0; i < MESSAGES; i++) {
            wanted++;
            var message = consumer.receive(RECEIVE_MILLIS);
            boolean right =
                message != null && message.getBody(String.class).equals(queue + ":" + i);
            received += right ? 1 : 0;
          }
        }
      }
    }
    findings.require(received == wanted, "%,d of %,d messages of some queues", received, wanted);
  }

  private static String name(int queue) {
    return "many." + queue;
  }

  private Connection connect() throws JMSException {
    Connection connection = new LightmqConnectionFactory(setup.uri()).createConnection();
    connection.start();
    return connection;
  }
}
