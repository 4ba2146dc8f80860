package io.lightmq.tck.faults;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.Connection;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TemporaryQueue;
import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Requests with one temporary queue for their replies. In each round both connections are reset ten
 * times in turn under a hundred requests, and then the broker is killed under twenty. No reply may
 * be refused, and none be lost but those that had their receipt when the broker was killed: they
 * waited in the queue, which is gone with the process.
 */
final class TemporaryRounds {
  private static final String REQUESTS = "temporary.requests";
  private static final int RESETS = 10;
  private static final int AT_A_RESET = 10;
  private static final int AT_A_KILL = 20;
  private static final int MOST_PAUSE_MILLIS = 30;
  private static final long REPLY_LIMIT_SECONDS = 45;

  private final BrokerSetup setup;
  private final Random random;
  private final Findings findings = new Findings();

  /** When the reply to each request had its receipt. */
  private final Map<Integer, Long> repliedNanos = new ConcurrentHashMap<>();

  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicInteger failed = new AtomicInteger();
  private int sent;
  private int received;
  private int waitedInIt;
  private int lost;
  private int resets;
  private int kills;

  TemporaryRounds(BrokerSetup setup, long seed) {
    this.setup = setup;
    this.random = new Random(seed);
  }

  Verdict run(int rounds) throws JMSException, IOException, InterruptedException {
    BrokerProcess broker = BrokerProcess.start(setup);
    try (CutLine requesters = CutLine.lasting(setup.port());
        CutLine repliers = CutLine.lasting(setup.port());
        Connection requester = connect(requesters);
        Connection replier = connect(repliers)) {
      replies(replier);
      Session session = requester.createSession();
      TemporaryQueue replyTo = session.createTemporaryQueue();
      String name = replyTo.getQueueName();
      MessageProducer producer = session.createProducer(session.createQueue(REQUESTS));
      MessageConsumer consumer = session.createConsumer(replyTo);
      requester.start();
      for (int round = 1; round <= rounds; round++) {
        for (int reset = 0; reset < RESETS; reset++) {
          Thread asking = resetSoon(reset % 2 == 0 ? requesters : repliers);
          ask(session, producer, consumer, replyTo, AT_A_RESET, Long.MIN_VALUE);
          asking.join();
        }
        broker = killUnder(broker, session, producer, consumer, replyTo);
        System.out.printf(
            "round %d: %,d requests, %,d replies, %d resets, %d kills%n",
            round, sent, received, resets, kills);
      }
      findings.require(
          replyTo.getQueueName().equals(name),
          "the temporary queue is %s as in the beginning",
          name);
    } finally {
      broker.kill();
    }
    findings.note(
        "%,d requests, %,d replies, %d resets, %d kills; %d replies waited in the queue of a killed"
            + " broker, %d sends of replies failed and were done again",
        sent, received, resets, kills, waitedInIt, failed.get());
    findings.require(refused.get() == 0, "%d replies refused", refused.get());
    findings.require(lost == 0, "%d replies lost that did not wait in a killed broker", lost);
    return findings.verdict(rounds, resets + kills, received);
  }

  private Connection connect(CutLine line) throws JMSException {
    return new LightmqConnectionFactory(
            "lightmq://127.0.0.1:"
                + line.port()
                + "?reconnectDelayMillis=10&connectTimeoutMillis=5000")
        .createConnection();
  }

  private void replies(Connection replier) throws JMSException {
    Session session = replier.createSession();
    MessageProducer producer = session.createProducer(null);
    session
        .createConsumer(session.createQueue(REQUESTS))
        .setMessageListener(request -> reply(session, producer, request));
    replier.start();
  }

  /** A request whose reply could not be sent comes again. */
  private void reply(Session session, MessageProducer producer, Message request) {
    try {
      Message reply = session.createMessage();
      reply.setIntProperty("n", request.getIntProperty("n"));
      producer.send(request.getJMSReplyTo(), reply);
      repliedNanos.putIfAbsent(request.getIntProperty("n"), System.nanoTime());
    } catch (InvalidDestinationException e) {
      refused.incrementAndGet();
      System.out.println("  refused: " + e.getMessage());
    } catch (JMSException e) {
      failed.incrementAndGet();
      throw new IllegalStateException("the request comes again", e);
    }
  }

  private Thread resetSoon(CutLine line) {
    int millis = random.nextInt(MOST_PAUSE_MILLIS);
    Thread thread =
        new Thread(
            () -> {
              try {
                Thread.sleep(millis);
              } catch (InterruptedException e) {
                return;
              }
              if (line.reset() > 0) {
                resets++;
              }
            },
            "reset");
    thread.start();
    return thread;
  }

  private BrokerProcess killUnder(
      BrokerProcess broker,
      Session session,
      MessageProducer producer,
      MessageConsumer consumer,
      TemporaryQueue replyTo)
      throws JMSException, IOException, InterruptedException {
    int first = sent + 1;
    for (int i = 0; i < AT_A_KILL / 2; i++) {
      send(session, producer, replyTo);
    }
    // Half of the kills hit while replies are on their way, the others when they wait in the queue.
    Thread.sleep(random.nextBoolean() ? 0 : random.nextInt(MOST_PAUSE_MILLIS));
    broker.kill();
    long killedNanos = System.nanoTime();
    kills++;
    BrokerProcess next = BrokerProcess.start(setup);
    Set<Integer> open = new HashSet<>();
    for (int n = first; n <= sent; n++) {
      open.add(n);
    }
    receive(consumer, open, killedNanos);
    ask(session, producer, consumer, replyTo, AT_A_KILL / 2, killedNanos);
    return next;
  }

  private void ask(
      Session session,
      MessageProducer producer,
      MessageConsumer consumer,
      TemporaryQueue replyTo,
      int count,
      long killedNanos)
      throws JMSException {
    Set<Integer> open = new HashSet<>();
    for (int i = 0; i < count; i++) {
      open.add(send(session, producer, replyTo));
    }
    receive(consumer, open, killedNanos);
  }

  private int send(Session session, MessageProducer producer, TemporaryQueue replyTo)
      throws JMSException {
    sent++;
    Message request = session.createMessage();
    request.setIntProperty("n", sent);
    request.setJMSReplyTo(replyTo);
    producer.send(request);
    return sent;
  }

  /** Duplicates, which an acknowledgement that was lost leads to, count once. */
  private void receive(MessageConsumer consumer, Set<Integer> open, long killedNanos)
      throws JMSException {
    long untilNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(REPLY_LIMIT_SECONDS);
    while (!open.isEmpty() && untilNanos - System.nanoTime() > 0) {
      if (killedNanos != Long.MIN_VALUE && isOnlyWhatWaited(open, killedNanos)) {
        // Those do not come, but one whose receipt was on its way might.
        Message late = consumer.receive(TimeUnit.SECONDS.toMillis(1));
        if (late == null) {
          break;
        }
        received += open.remove(late.getIntProperty("n")) ? 1 : 0;
        continue;
      }
      Message reply = consumer.receive(TimeUnit.SECONDS.toMillis(1));
      if (reply != null && open.remove(reply.getIntProperty("n"))) {
        received++;
      }
    }
    for (int n : open) {
      if (waited(n, killedNanos)) {
        waitedInIt++;
      } else {
        lost++;
        System.out.println("  no reply to request " + n);
      }
    }
  }

  private boolean isOnlyWhatWaited(Set<Integer> open, long killedNanos) {
    return open.stream().allMatch(n -> waited(n, killedNanos));
  }

  private boolean waited(int n, long killedNanos) {
    Long at = repliedNanos.get(n);
    return killedNanos != Long.MIN_VALUE && at != null && at - killedNanos < 0;
  }
}
