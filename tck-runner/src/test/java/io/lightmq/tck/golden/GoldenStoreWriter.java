package io.lightmq.tck.golden;

import static io.lightmq.tck.golden.GoldenContent.*;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.broker.BrokerMetrics;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import io.lightmq.tck.golden.GoldenContent.Subscription;
import jakarta.jms.BytesMessage;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.JMSProducer;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.StreamMessage;
import jakarta.jms.TextMessage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Writes a golden store with an older build: its packaged server, and its client and samples on the
 * class path before these classes. docs/testing.md has the command.
 *
 * <p>Two runs of the broker, both ended by a kill: the first makes checkpoints, so that snapshots
 * and segments are there; what the second takes is in the journal only.
 */
public final class GoldenStoreWriter {
  private static final long WAIT_MILLIS = 20_000;

  /** A start may have to make a checkpoint first, and the metrics are a second old. */
  private static final long SETTLE_MILLIS = 3_000;

  private static final int UNLOGGED_MESSAGES = 1_200;

  private final BrokerSetup setup;
  private final Manifest manifest = new Manifest();
  private final List<Sent> prioritised = new ArrayList<>();
  private int number;

  private record Sent(int priority, String line) {}

  private GoldenStoreWriter(BrokerSetup setup) {
    this.setup = setup;
  }

  /**
   * Runs with the system property {@code lightmq.home} naming the older server.
   *
   * @param arguments the zip file to write
   */
  public static void main(String[] arguments) throws Exception {
    Path work = Files.createTempDirectory("lightmq-golden-");
    GoldenStoreWriter writer =
        new GoldenStoreWriter(BrokerSetup.in(work).withConfiguration(CONFIGURATION));
    writer.write();
    writer.manifest.write(work.resolve("data/manifest.txt"));
    zip(work.resolve("data"), Path.of(arguments[0]));
    System.out.println(arguments[0] + " has " + Files.size(Path.of(arguments[0])) + " bytes");
  }

  private void write() throws Exception {
    manifest.add("created", String.valueOf(System.currentTimeMillis()));
    BrokerProcess broker = BrokerProcess.start(setup);
    try {
      try (JMSContext own = context(CLIENT_ID);
          JMSContext other = context(null)) {
        subscribe(own, other);
        fill(own, other);
        spend(own, other);
        fail(other);
      }
      link(1);
      deepen();
      broker.kill();
      broker = BrokerProcess.start(setup);
      Thread.sleep(SETTLE_MILLIS);
      double before = checkpoints();
      try (JMSContext own = context(CLIENT_ID);
          JMSContext other = context(null)) {
        fill(own, other);
        link(2);
        overflow(other);
        if (checkpoints() != before) {
          throw new IllegalStateException("a checkpoint left nothing in the journal; run it again");
        }
        broker.kill();
      }
    } finally {
      broker.kill();
    }
    prioritised.sort(Comparator.comparingInt(Sent::priority).reversed());
    prioritised.forEach(sent -> manifest.add(PRIORITIES, sent.line()));
  }

  private JMSContext context(String clientId) throws JMSException {
    ConnectionFactory factory = new LightmqConnectionFactory(setup.uri("reconnectAttempts=0"));
    JMSContext context = factory.createContext(JMSContext.SESSION_TRANSACTED);
    if (clientId != null) {
      context.setClientID(clientId);
    }
    return context;
  }

  // ---- what is sent ----

  private static void subscribe(JMSContext own, JMSContext other) {
    for (Subscription each : Subscription.values()) {
      each.open(each.hasClientId() ? own : other).close();
    }
  }

  /** The same in both runs, so that everything is in snapshots, segments and the journal. */
  private void fill(JMSContext own, JMSContext other) throws JMSException {
    JMSProducer producer = other.createProducer();
    for (Message message : everyKind(other)) {
      send(other, producer, PLAIN, message);
    }
    send(other, other.createProducer().setTimeToLive(FAR_MILLIS), PLAIN, text(other));
    for (int priority = 0; priority <= 9; priority++) {
      Message message = text(other);
      other.createProducer().setPriority(priority).send(other.createQueue(PRIORITIES), message);
      other.commit();
      prioritised.add(new Sent(priority, MessageLine.of(message)));
    }
    for (int i = 1; i <= 6; i++) {
      Message message = text(other);
      message.setStringProperty("JMSXGroupID", "group-" + i % 3);
      message.setIntProperty("JMSXGroupSeq", i);
      send(other, producer, GROUPS, message);
    }
    for (int i = 0; i < 3; i++) {
      send(other, producer, BALANCED, text(other));
      long delayMillis = FAR_MILLIS + i * 7_200_000L;
      send(other, other.createProducer().setDeliveryDelay(delayMillis), LATER, text(other));
    }
    for (int n = 1; n <= 4; n++) {
      publish(own, n, n % 2 == 0 ? "EU" : "US", true);
      publish(other, n, n % 2 == 0 ? "US" : "EU", false);
    }
    Message first = text(other);
    first.setIntProperty("order", 1);
    Message next = text(other);
    next.setIntProperty("order", ++number);
    boolean begun = manifest.of(ONCE).isEmpty();
    if (begun) {
      // Acknowledged, so that the broker remembers its key, see spend().
      producer.send(other.createQueue(ONCE), first);
      other.commit();
      receive(other, ONCE);
      other.commit();
    } else {
      // A duplicate of it, which may come to nobody.
      producer.send(other.createQueue(ONCE), first);
      other.commit();
    }
    send(other, producer, ONCE, next);
  }

  private void send(JMSContext context, JMSProducer producer, String queue, Message message)
      throws JMSException {
    producer.send(context.createQueue(queue), message);
    context.commit();
    manifest.add(queue, MessageLine.of(message));
  }

  private void publish(JMSContext context, int n, String region, boolean own) throws JMSException {
    Message message = text(context);
    message.setStringProperty("region", region);
    message.setIntProperty("n", n);
    context.createProducer().send(context.createTopic(TOPIC), message);
    context.commit();
    for (Subscription each : Subscription.values()) {
      if (each.wants(region, n, own)) {
        manifest.add(each.label(), MessageLine.of(message));
      }
    }
  }

  private TextMessage text(JMSContext context) {
    return context.createTextMessage("text " + ++number);
  }

  private List<Message> everyKind(JMSContext context) throws JMSException {
    TextMessage text = text(context);
    text.setText("ünïcödé \ud83d\ude00 line\nline");
    text.setJMSCorrelationID("correlation-" + number);
    text.setJMSType("kind");
    text.setJMSReplyTo(context.createQueue("golden.replies"));
    text.setBooleanProperty("aBoolean", true);
    text.setByteProperty("aByte", (byte) -1);
    text.setShortProperty("aShort", (short) -2);
    text.setIntProperty("anInt", -3);
    text.setLongProperty("aLong", Long.MIN_VALUE);
    text.setFloatProperty("aFloat", 1.5f);
    text.setDoubleProperty("aDouble", -2.25);
    text.setStringProperty("aString", "é\u0000");
    text.setObjectProperty("aNull", null);
    BytesMessage bytes = context.createBytesMessage();
    bytes.writeBytes(new byte[] {0, 1, -1, 127});
    bytes.writeUTF("utf");
    MapMessage map = context.createMapMessage();
    map.setBoolean("boolean", false);
    map.setByte("byte", (byte) 1);
    map.setShort("short", (short) 2);
    map.setChar("char", 'c');
    map.setInt("int", 3);
    map.setLong("long", 4);
    map.setFloat("float", 5.5f);
    map.setDouble("double", 6.5);
    map.setString("string", "seven");
    map.setBytes("bytes", new byte[] {8, 9});
    map.setString("null", null);
    StreamMessage stream = context.createStreamMessage();
    stream.writeString("one");
    stream.writeInt(2);
    stream.writeBytes(new byte[] {3});
    stream.writeObject(null);
    Message object = context.createObjectMessage("an object");
    return List.of(
        text, bytes, map, stream, object, context.createMessage(), context.createTextMessage(null));
  }

  // ---- what is done with it ----

  /** Takes the first message of each subscription and of the plain queue. */
  private void spend(JMSContext own, JMSContext other) throws JMSException {
    for (Subscription each : Subscription.values()) {
      JMSContext context = each.hasClientId() ? own : other;
      try (JMSConsumer consumer = each.open(context)) {
        settle(each.label(), consumer.receive(WAIT_MILLIS));
        context.commit();
      }
    }
    settle(PLAIN, receive(other, PLAIN));
    other.commit();
  }

  private void settle(String heading, Message message) throws JMSException {
    if (message == null || !manifest.remove(heading, MessageLine.of(message))) {
      throw new IllegalStateException(heading + " gave something else: " + message);
    }
  }

  private static Message receive(JMSContext context, String queue) {
    try (JMSConsumer consumer = context.createConsumer(context.createQueue(queue))) {
      return consumer.receive(WAIT_MILLIS);
    }
  }

  private void fail(JMSContext context) throws JMSException, InterruptedException {
    send(context, context.createProducer(), ATTEMPTS, text(context));
    rollBack(context, ATTEMPTS);
    rollBack(context, ATTEMPTS);
    Message dead = text(context);
    send(context, context.createProducer(), FAILING, dead);
    rollBack(context, FAILING);
    rollBack(context, FAILING);
    move(FAILING, DEAD);
    awaitIn(context, DEAD);
    send(context, context.createProducer(), FAILING, text(context));
    Message waiting = text(context);
    send(context, context.createProducer(), WAITING, waiting);
    rollBack(context, WAITING);
    send(context, context.createProducer().setTimeToLive(300), SHORT, text(context));
    move(SHORT, EXPIRED);
    awaitIn(context, EXPIRED);
  }

  private static void rollBack(JMSContext context, String queue) {
    if (receive(context, queue) == null) {
      throw new IllegalStateException("nothing came from " + queue);
    }
    context.rollback();
  }

  private void move(String from, String to) {
    String line = manifest.of(from).get(0);
    manifest.remove(from, line);
    // A letter's time to live is over or has no meaning any more.
    manifest.add(to, line.replace("expires=true", "expires=false"));
  }

  private static void awaitIn(JMSContext context, String queue)
      throws JMSException, InterruptedException {
    long deadline = System.nanoTime() + WAIT_MILLIS * 1_000_000;
    while (System.nanoTime() < deadline) {
      try (var browser = context.createBrowser(context.createQueue(queue))) {
        if (browser.getEnumeration().hasMoreElements()) {
          return;
        }
      }
      Thread.sleep(50);
    }
    throw new IllegalStateException("nothing came to " + queue);
  }

  /** A backlog that the journal has no room for, until two checkpoints have been made. */
  private void deepen() throws JMSException, IOException, InterruptedException {
    long deadline = System.nanoTime() + WAIT_MILLIS * 1_000_000;
    try (JMSContext context = context(null)) {
      JMSProducer producer = context.createProducer();
      while (checkpoints() < 2) {
        if (System.nanoTime() > deadline) {
          throw new IllegalStateException("no two checkpoints within 20 s");
        }
        for (int i = 0; i < 50; i++) {
          Message message = context.createTextMessage(++number + "x".repeat(400));
          producer.send(context.createQueue(DEEP), message);
          manifest.add(DEEP, MessageLine.of(message));
        }
        context.commit();
        Thread.sleep(200);
      }
      for (int i = 0; i < 20; i++) {
        settle(DEEP, receive(context, DEEP));
      }
      context.commit();
    }
  }

  /** Runs, a commit and a refusal of a link that is never closed. */
  private void link(long epoch) throws IOException {
    RawClient client = new RawClient(setup.port());
    RawClient.Link link = client.attach(LINK, epoch, 1);
    long next = link.last() + 1;
    long queue = client.producer(RawClient.QUEUE, LINKED);
    for (int i = 0; i < 2; i++) {
      take(client.publish(queue, next, message(next)), next);
      next++;
    }
    take(client.publish(queue + 1_000_000, next, message(next)), next);
    next++;
    take(client.commit(queue, next, message(next)), next);
    manifest.set("link", epoch + " " + next);
    client.abandon();
  }

  private static RawClient.Outgoing message(long number) {
    return new RawClient.Outgoing(new UUID(1, 2), number, "linked " + number);
  }

  private void take(Optional<RawClient.Refusal> outcome, long number) {
    if (outcome.isPresent()) {
      manifest.add("refused", number + " " + outcome.get().code() + " " + outcome.get().text());
    } else {
      manifest.add("linked", number + " linked " + number);
    }
  }

  private double checkpoints() throws IOException, InterruptedException {
    return BrokerMetrics.of(setup).sum("lightmq_checkpoints_total", "");
  }

  /** Non-persistent messages, more than memory has room for: they do not survive the kill. */
  private void overflow(JMSContext context) throws IOException, InterruptedException {
    JMSProducer producer = context.createProducer().setDeliveryMode(DeliveryMode.NON_PERSISTENT);
    for (int i = 0; i < UNLOGGED_MESSAGES; i++) {
      producer.send(context.createQueue(OVERFLOW), "y".repeat(800));
      if (i % 40 == 0) {
        context.commit();
      }
    }
    context.commit();
    long deadline = System.nanoTime() + WAIT_MILLIS * 1_000_000;
    while (BrokerMetrics.of(setup).sum("lightmq_overflow_bytes", "") == 0) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("nothing has overflowed");
      }
      Thread.sleep(100);
    }
  }

  private static boolean isContent(Path file) {
    return Files.isRegularFile(file) && !file.endsWith("lock");
  }

  private static void zip(Path folder, Path file) throws IOException {
    try (OutputStream out = Files.newOutputStream(file);
        ZipOutputStream zip = new ZipOutputStream(out, StandardCharsets.UTF_8);
        Stream<Path> files = Files.walk(folder)) {
      zip.setLevel(9);
      for (Path each : files.filter(GoldenStoreWriter::isContent).sorted().toList()) {
        zip.putNextEntry(new ZipEntry(folder.relativize(each).toString().replace('\\', '/')));
        Files.copy(each, zip);
        zip.closeEntry();
      }
    }
  }
}
