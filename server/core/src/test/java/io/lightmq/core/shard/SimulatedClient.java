package io.lightmq.core.shard;

import io.lightmq.core.shard.Command.Subscribe;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.shard.SimulationModel.IntRange;
import io.lightmq.core.shard.SimulationModel.Message;
import io.lightmq.core.shard.SimulationModel.Queue;
import io.lightmq.core.shard.SimulationModel.Transaction;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;

/**
 * A client with a link: sends runs and commits with its numbers, repeats what was not answered
 * after each new attach, consumes, acknowledges, gives back. All it does, it tells the model.
 */
final class SimulatedClient {
  /** A numbered run or commit that is not answered. */
  private static final class Sent {
    final Queue queue;
    final List<Message> messages;
    final Transaction transaction;
    final Map<Integer, List<SequenceRange>> acked;
    final boolean durable;
    int correlation;
    boolean answered;

    Sent(
        Queue queue,
        List<Message> messages,
        Transaction transaction,
        Map<Integer, List<SequenceRange>> acked,
        boolean durable) {
      this.queue = queue;
      this.messages = messages;
      this.transaction = transaction;
      this.acked = acked;
      this.durable = durable;
    }
  }

  private static final int MOST_PULLED = 12;

  private record Held(Received received, Message message, Queue queue) {}

  private final Simulation simulation;
  private final BrokerHarness harness;
  private final Random random;
  private final int id;
  private final boolean readsTopic;
  private final Map<Integer, Queue> consumers = new LinkedHashMap<>();
  private final Map<Integer, IntRange> ranges = new HashMap<>();
  private final Map<Queue, Long> destinationIds = new HashMap<>();
  private final Map<Integer, Queue> producerRequests = new HashMap<>();
  private final Map<Integer, Integer> consumerRequests = new HashMap<>();
  private final TreeMap<Long, Sent> unanswered = new TreeMap<>();
  private final Map<Integer, Long> numbers = new HashMap<>();
  private final Map<Integer, List<Message>> volatileRuns = new HashMap<>();
  private final Map<Integer, List<Held>> awaitedAcks = new HashMap<>();
  private final List<Held> held = new ArrayList<>();
  private final List<Integer> open = new ArrayList<>();
  private UUID link;
  private long linkEpoch;
  private long nextNumber = 1;
  private int nextOrder;
  private FakePeer peer;
  private int attachRequest;
  private boolean attached;

  SimulatedClient(Simulation simulation, int id, boolean readsTopic) {
    this.simulation = simulation;
    this.harness = simulation.harness();
    this.random = simulation.random();
    this.id = id;
    this.readsTopic = readsTopic;
    this.link = new UUID(id, random.nextLong());
  }

  // ---- connection ----

  void connect() {
    peer = simulation.newPeer();
    FakePeer own = peer;
    own.onReceived = received -> received(own, received);
    own.onReceipt = receipt -> receipt(own, receipt);
    attached = false;
    destinationIds.clear();
    producerRequests.clear();
    consumerRequests.clear();
    consumers.clear();
    open.clear();
    held.clear();
    awaitedAcks.clear();
    volatileRuns.clear();
    numbers.clear();
    attachRequest = harness.nextCorrelation();
    long from = unanswered.isEmpty() ? nextNumber : unanswered.firstKey();
    harness.broker.submit(
        new Command.Attach(
            own, attachRequest, link, ++linkEpoch, from, readsTopic ? "client" + id : null));
  }

  /** What was acknowledged by the last pulls may never be sent. */
  private void mayMiss() {
    consumers.forEach(
        (consumer, queue) -> {
          if (simulation.consumesByPulling(id, consumer)) {
            queue.mayMiss += MOST_PULLED;
          }
        });
  }

  /** The connection breaks; what was not answered is repeated on the next one. */
  void loseLink() {
    FakePeer old = peer;
    old.dead = true;
    mayMiss();
    harness.broker.submit(new Command.Detach(old, false));
    connect();
  }

  void crashed() {
    peer.dead = true;
    mayMiss();
  }

  /** Closes in order, having given back what it saw. */
  void closeCleanly() {
    if (!attached || !unanswered.isEmpty() || !awaitedAcks.isEmpty()) {
      return;
    }
    giveBack(List.copyOf(held));
    peer.dead = true;
    mayMiss();
    harness.broker.submit(new Command.Detach(peer, true));
    link = new UUID(id, random.nextLong());
    linkEpoch = 0;
    nextNumber = 1;
    connect();
  }

  /** Looks at the answers that have come. */
  void look() {
    if (!peer.disconnects.isEmpty() && !peer.dead) {
      throw new AssertionError("client " + id + " was disconnected: " + peer.disconnects);
    }
    Peer.Reply reply = attached ? null : peer.replies.remove(attachRequest);
    if (reply != null) {
      if (!(reply instanceof Peer.Reply.Attached answer)) {
        throw new AssertionError("attach was answered " + reply);
      }
      attached = true;
      repeat(answer);
      subscribe();
    }
    producerRequests
        .entrySet()
        .removeIf(
            request -> {
              Peer.Reply made = peer.replies.remove(request.getKey());
              if (made instanceof Peer.Reply.ProducerAttached producer) {
                destinationIds.put(request.getValue(), producer.destinationId());
              }
              return made != null;
            });
    consumerRequests
        .entrySet()
        .removeIf(
            request -> {
              Peer.Reply made = peer.replies.remove(request.getKey());
              if (made instanceof Peer.Reply.ConsumerAttached consumer) {
                open.add(request.getValue());
                destinationIds.put(consumers.get(request.getValue()), consumer.destinationId());
              }
              return made != null;
            });
    awaitedAcks
        .entrySet()
        .removeIf(
            request -> {
              Peer.Reply made = peer.replies.remove(request.getKey());
              if (made instanceof Peer.Reply.Ok) {
                for (Held each : request.getValue()) {
                  acknowledged(each.message(), each.queue().high);
                }
              }
              return made != null;
            });
  }

  private void repeat(Peer.Reply.Attached answer) {
    Map<Long, Peer.Outcome> outcomes = new HashMap<>();
    answer.outcomes().forEach(outcome -> outcomes.put(outcome.number(), outcome));
    while (!unanswered.isEmpty() && unanswered.firstKey() <= answer.last()) {
      Map.Entry<Long, Sent> first = unanswered.pollFirstEntry();
      Peer.Outcome outcome = outcomes.get(first.getKey());
      if (!first.getValue().answered) {
        answered(first.getValue(), outcome == null ? FaultCode.OK : outcome.code(), true);
      }
    }
    for (Map.Entry<Long, Sent> each : unanswered.entrySet()) {
      submit(each.getKey(), each.getValue());
    }
  }

  private void subscribe() {
    for (int i = 0; i < simulation.queues().size(); i++) {
      Queue queue = simulation.queues().get(i);
      boolean topic = !queue.destination.kind().isQueue();
      int c = harness.nextCorrelation();
      producerRequests.put(c, queue);
      harness.broker.submit(new Command.AttachProducer(peer, c, queue.destination, true));
      if (topic ? readsTopic : random.nextInt(3) > 0) {
        openConsumer(i + 1, queue);
      }
    }
  }

  private void openConsumer(int consumer, Queue queue) {
    boolean topic = !queue.destination.kind().isQueue();
    IntRange wanted = topic ? queue.wanted : anyRange();
    ranges.put(consumer, wanted);
    consumers.put(consumer, queue);
    int c = harness.nextCorrelation();
    consumerRequests.put(c, consumer);
    simulation.submit(
        new Command.AttachConsumer(
            peer,
            c,
            consumer,
            1,
            queue.destination,
            topic ? Subscribe.DURABLE : Subscribe.QUEUE,
            queue.subscription,
            wanted.selector(),
            false,
            simulation.consumesByPulling(id, consumer),
            true));
  }

  /** Mostly everything, else a part; what nobody wants is left to the last drain. */
  private IntRange anyRange() {
    if (random.nextInt(3) > 0) {
      return IntRange.ALL;
    }
    int low = random.nextInt(7);
    return new IntRange(low, low + random.nextInt(7 - low));
  }

  /** Nothing stays without an answer when time passes. */
  void everythingIsAnswered() {
    if (!attached || !unanswered.isEmpty() || !awaitedAcks.isEmpty() || !volatileRuns.isEmpty()) {
      throw new AssertionError(
          "client "
              + id
              + (attached ? "" : " is not attached,")
              + " waits for answers to "
              + unanswered.keySet()
              + " and "
              + awaitedAcks.size()
              + " acknowledgements and "
              + volatileRuns.size()
              + " volatile runs; publishes paused: "
              + harness.broker.metrics().publishesPaused());
    }
  }

  // ---- sending ----

  private Message newMessage(Queue queue, boolean persistent, int priority) {
    String text = "c" + id + "." + nextOrder + "-" + "x".repeat(random.nextInt(200));
    Message message = new Message(text, id, nextOrder++, persistent, priority);
    return queue.sent(message);
  }

  /** Mostly the default, else any. */
  private int anyPriority() {
    return random.nextInt(5) < 3 ? 4 : random.nextInt(10);
  }

  void send() {
    Queue queue = simulation.anyQueue();
    if (attached && destinationIds.containsKey(queue)) {
      send(queue, random.nextInt(5) > 0);
    }
  }

  /** Sends a run to a destination that this client knows. */
  void send(Queue queue, boolean persistent) {
    List<Message> messages = new ArrayList<>();
    int count = 1 + random.nextInt(random.nextInt(20) == 0 ? 40 : 4);
    boolean mixed = random.nextInt(4) == 0;
    int priority = anyPriority();
    for (int i = 0; i < count; i++) {
      messages.add(newMessage(queue, persistent, mixed ? anyPriority() : priority));
    }
    Sent sent = new Sent(queue, messages, null, Map.of(), queue.high);
    if (persistent) {
      long number = nextNumber++;
      unanswered.put(number, sent);
      submit(number, sent);
    } else {
      int c = harness.nextCorrelation();
      volatileRuns.put(c, messages);
      harness.broker.submit(
          new Command.Publish(peer, c, destinationIds.get(queue), 0, count, bytes(sent, false)));
    }
  }

  private Command.Bytes bytes(Sent sent, boolean persistent) {
    return harness.bytes(
        persistent,
        0,
        sent.messages.stream()
            .map(each -> new BrokerHarness.Sample(each.priority, each.text))
            .toList());
  }

  private void submit(long number, Sent sent) {
    sent.correlation = harness.nextCorrelation();
    numbers.put(sent.correlation, number);
    long destination = destinationIds.getOrDefault(sent.queue, simulation.lastKnownId(sent.queue));
    if (sent.transaction == null) {
      simulation.submit(
          new Command.Publish(
              peer,
              sent.correlation,
              destination,
              number,
              sent.messages.size(),
              bytes(sent, true)));
      return;
    }
    List<Command.Acked> acked = new ArrayList<>();
    sent.acked.forEach(
        (consumer, ranges) ->
            acked.add(
                new Command.Acked(
                    consumer,
                    simulation.lastKnownId(simulation.queues().get(consumer - 1)),
                    ranges)));
    harness.broker.submit(
        new Command.Commit(
            peer,
            sent.correlation,
            1,
            number,
            List.of(
                new Command.StagedRun(destination, true, sent.messages.size(), bytes(sent, true))),
            acked));
  }

  void commit() {
    Queue queue = simulation.anyQueue();
    if (!attached || !destinationIds.containsKey(queue) || held.isEmpty()) {
      return;
    }
    List<Message> in = new ArrayList<>();
    Map<Integer, List<SequenceRange>> acked = new LinkedHashMap<>();
    boolean durable = queue.high;
    for (Held each : someHeld()) {
      if (each.message().inTransaction || !each.message().persistent) {
        continue;
      }
      each.message().inTransaction = true;
      each.message().acknowledgementSent = true;
      in.add(each.message());
      durable |= each.queue().high;
      acked
          .computeIfAbsent(each.received().consumerId(), key -> new ArrayList<>())
          .add(each.received().range());
      held.remove(each);
    }
    List<Message> outs = new ArrayList<>();
    for (int count = 1 + random.nextInt(3); count > 0; count--) {
      outs.add(newMessage(queue, true, anyPriority()));
    }
    Transaction transaction = new Transaction(in, outs);
    simulation.model().transactions.add(transaction);
    Sent sent = new Sent(queue, outs, transaction, acked, durable);
    long number = nextNumber++;
    unanswered.put(number, sent);
    submit(number, sent);
  }

  private void receipt(FakePeer from, FakePeer.Receipt receipt) {
    if (from.dead || from != peer) {
      return;
    }
    List<Message> light = volatileRuns.remove(receipt.correlation());
    if (light != null) {
      if (receipt.code() != FaultCode.OK) {
        light.forEach(SimulatedClient::refused);
      }
      return;
    }
    Long number = numbers.remove(receipt.correlation());
    Sent sent = number == null ? null : unanswered.get(number);
    if (sent == null) {
      throw new AssertionError("client " + id + " got an answer to nothing: " + receipt);
    }
    if (!sent.answered) {
      sent.answered = true;
      answered(sent, receipt.code(), false);
    }
    // What was answered is kept until all before it is: after a crash the broker may know neither.
    while (!unanswered.isEmpty() && isSettled(unanswered.firstEntry().getValue())) {
      unanswered.pollFirstEntry();
    }
    if (receipt.code() == FaultCode.DESTINATION_GONE) {
      destinationIds.remove(sent.queue);
    }
  }

  /** Whether it was answered and, if it was repeated since, its repetition was too. */
  private boolean isSettled(Sent sent) {
    return sent.answered && !numbers.containsKey(sent.correlation);
  }

  private void answered(Sent sent, FaultCode code, boolean durably) {
    if (code == FaultCode.OK) {
      for (Message sentOne : sent.messages) {
        for (Message message : sentOne.all()) {
          message.confirmed = true;
          message.confirmedDurably |= sent.durable || durably;
        }
      }
      if (sent.transaction != null) {
        sent.transaction.in().forEach(message -> acknowledged(message, sent.durable || durably));
      }
      return;
    }
    sent.messages.forEach(SimulatedClient::refused);
    if (sent.transaction != null) {
      for (Message message : sent.transaction.in()) {
        message.inTransaction = false;
        message.acknowledgementSent = false;
      }
      simulation.model().transactions.remove(sent.transaction);
    }
  }

  private static void refused(Message message) {
    message.all().forEach(each -> each.refused = true);
  }

  private static void acknowledged(Message message, boolean durably) {
    message.acknowledged = true;
    message.acknowledgedDurably |= durably;
  }

  // ---- consuming ----

  void pull() {
    if (open.isEmpty()) {
      return;
    }
    int consumer = open.get(random.nextInt(open.size()));
    harness.broker.submit(
        new Command.Pull(
            peer,
            consumer,
            harness.nextCorrelation(),
            1 + random.nextInt(MOST_PULLED),
            1 + random.nextInt(4000),
            random.nextBoolean() ? 0 : 40));
  }

  private void received(FakePeer from, Received received) {
    Queue queue = simulation.queues().get(received.consumerId() - 1);
    boolean alive = !from.dead && from == peer;
    boolean consumed = simulation.consumesByPulling(id, received.consumerId());
    Message message = simulation.delivered(queue, received, alive, consumed);
    if (alive && !ranges.get(received.consumerId()).holds(message.n())) {
      throw new AssertionError(received + " came to a consumer of " + ranges);
    }
    if (alive && !consumed) {
      held.add(new Held(received, message, queue));
    }
  }

  private List<Held> someHeld() {
    List<Held> some = new ArrayList<>();
    for (Held each : held) {
      if (random.nextInt(3) > 0) {
        some.add(each);
      }
    }
    return some;
  }

  void acknowledge() {
    List<Held> some = someHeld();
    some.removeIf(each -> each.message().inTransaction);
    if (some.isEmpty()) {
      return;
    }
    int c = !simulation.quiet() && random.nextBoolean() ? harness.nextCorrelation() : 0;
    for (Held each : some) {
      each.message().acknowledgementSent = true;
    }
    harness.broker.submit(new Command.Acknowledge(peer, c, acked(some)));
    held.removeAll(some);
    if (c != 0) {
      awaitedAcks.put(c, some);
    }
  }

  void giveBack() {
    giveBack(someHeld());
  }

  private void giveBack(List<Held> some) {
    if (some.isEmpty()) {
      return;
    }
    harness.broker.submit(new Command.Return(peer, 0, acked(some), true));
    held.removeAll(some);
  }

  private List<Command.Acked> acked(List<Held> some) {
    Map<Integer, List<SequenceRange>> ranges = new LinkedHashMap<>();
    Map<Integer, Long> ids = new HashMap<>();
    for (Held each : some) {
      ranges
          .computeIfAbsent(each.received().consumerId(), key -> new ArrayList<>())
          .add(each.received().range());
      ids.put(each.received().consumerId(), each.received().destinationId());
    }
    List<Command.Acked> acked = new ArrayList<>();
    ranges.forEach(
        (consumer, all) -> acked.add(new Command.Acked(consumer, ids.get(consumer), all)));
    return acked;
  }
}
