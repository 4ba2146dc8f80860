package io.lightmq.core.shard;

import io.lightmq.core.shard.OrderModel.Message;
import io.lightmq.core.shard.OrderModel.Topic;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/**
 * A session that sends to topics over a link of its own, which it may lose: it repeats what was not
 * answered before it sends anything new. A transacted one sends by commits only.
 */
final class OrderProducer {
  /** Consecutive messages of one delivery mode for one topic. */
  private record Run(Topic topic, boolean persistent, List<Message> messages) {}

  /** What one number stands for: a run or a commit. */
  private static final class Sent {
    final List<Run> runs;
    final boolean commit;
    int correlation;
    boolean answered;

    Sent(List<Run> runs, boolean commit) {
      this.runs = runs;
      this.commit = commit;
    }

    List<Message> messages() {
      return runs.stream().flatMap(run -> run.messages().stream()).toList();
    }

    /** Whether its receipt says that it is durable. */
    boolean durable() {
      return runs.stream().allMatch(run -> run.topic().high());
    }
  }

  private static final int MOST_OPEN = 200;

  private final OrderSimulation simulation;
  private final BrokerHarness h;
  private final int id;
  private final boolean transacted;
  private final boolean priorities;
  private final UUID link;
  private final TreeMap<Long, Sent> unanswered = new TreeMap<>();
  private final Map<Integer, Long> numbers = new HashMap<>();
  private final Map<Integer, List<Message>> volatileRuns = new HashMap<>();
  private final Map<Topic, Long> ids = new HashMap<>();
  private FakePeer peer;
  private long linkEpoch;
  private long nextNumber = 1;
  private int order;

  OrderProducer(OrderSimulation simulation, int id, boolean transacted, boolean priorities) {
    this.simulation = simulation;
    this.h = simulation.harness();
    this.id = id;
    this.transacted = transacted;
    this.priorities = priorities;
    this.link = new UUID(id, simulation.random().nextLong());
  }

  // ---- connection ----

  void connect() {
    FakePeer own = simulation.newPeer();
    peer = own;
    own.onReceipt = receipt -> receipt(own, receipt);
    numbers.clear();
    volatileRuns.clear();
    int c = h.nextCorrelation();
    long from = unanswered.isEmpty() ? nextNumber : unanswered.firstKey();
    h.broker.submit(new Command.Attach(own, c, link, ++linkEpoch, from, null));
    Peer.Reply reply = h.reply(own, c);
    if (!(reply instanceof Peer.Reply.Attached attached)) {
      throw new AssertionError("attach was answered " + reply);
    }
    Map<Long, FaultCode> codes = new HashMap<>();
    attached.outcomes().forEach(outcome -> codes.put(outcome.number(), outcome.code()));
    while (!unanswered.isEmpty() && unanswered.firstKey() <= attached.last()) {
      Map.Entry<Long, Sent> first = unanswered.pollFirstEntry();
      if (!first.getValue().answered) {
        answered(first.getValue(), codes.getOrDefault(first.getKey(), FaultCode.OK), true);
      }
    }
    for (Topic topic : List.of(Topic.HIGH, Topic.FAST)) {
      ids.put(topic, h.producer(own, topic.name()));
    }
    unanswered.forEach(this::submit);
  }

  /** The connection breaks. */
  void loseLink() {
    crashed();
    h.broker.submit(new Command.Detach(peer, false));
    connect();
  }

  /** Nothing that comes on the connection is seen any more. */
  void crashed() {
    peer.dead = true;
  }

  void look() {
    if (!peer.dead && !peer.disconnects.isEmpty()) {
      throw new AssertionError("producer " + id + " was disconnected: " + peer.disconnects);
    }
  }

  boolean isIdle() {
    return unanswered.isEmpty() && volatileRuns.isEmpty();
  }

  // ---- sending ----

  /** Sends a run of one delivery mode, or commits some. */
  void send() {
    if (unanswered.size() + volatileRuns.size() > MOST_OPEN) {
      return;
    }
    Topic topic = simulation.anyTopic();
    if (transacted) {
      commit(topic);
      return;
    }
    Run run = newRun(topic, 0);
    if (run.persistent()) {
      Sent sent = new Sent(List.of(run), false);
      unanswered.put(nextNumber, sent);
      submit(nextNumber++, sent);
    } else {
      int c = h.nextCorrelation();
      volatileRuns.put(c, run.messages());
      publish(c, 0, run);
    }
  }

  private void commit(Topic topic) {
    List<Run> runs = new ArrayList<>();
    int transaction = simulation.model().nextTransaction();
    for (int count = 1 + simulation.random().nextInt(4); count > 0; count--) {
      runs.add(
          newRun(simulation.random().nextInt(4) == 0 ? simulation.anyTopic() : topic, transaction));
    }
    Sent sent = new Sent(runs, true);
    unanswered.put(nextNumber, sent);
    submit(nextNumber++, sent);
  }

  private Run newRun(Topic topic, int transaction) {
    boolean persistent = simulation.random().nextBoolean();
    List<Message> run = new ArrayList<>();
    for (int count = 1 + simulation.random().nextInt(4); count > 0; count--) {
      int length = simulation.random().nextInt(simulation.random().nextInt(10) == 0 ? 900 : 120);
      String text = "p" + id + "." + order + "-" + "x".repeat(length);
      int priority = priorities ? simulation.random().nextInt(3) * 3 : 4;
      run.add(
          simulation.model().message(text, topic, id, order++, persistent, priority, transaction));
    }
    return new Run(topic, persistent, run);
  }

  private void submit(long number, Sent sent) {
    int c = h.nextCorrelation();
    sent.correlation = c;
    numbers.put(c, number);
    if (!sent.commit) {
      publish(c, number, sent.runs.get(0));
      return;
    }
    List<Command.StagedRun> staged = new ArrayList<>();
    for (Run run : sent.runs) {
      simulation.model().sent(run.messages());
      staged.add(
          new Command.StagedRun(
              ids.get(run.topic()), run.persistent(), run.messages().size(), bytes(run)));
    }
    h.broker.submit(new Command.Commit(peer, c, 1, number, staged, List.of()));
  }

  private void publish(int c, long number, Run run) {
    simulation.model().sent(run.messages());
    simulation.submit(
        new Command.Publish(
            peer, c, ids.get(run.topic()), number, run.messages().size(), bytes(run)));
  }

  private Command.Bytes bytes(Run run) {
    return h.bytes(
        run.persistent(),
        0,
        run.messages().stream()
            .map(each -> new BrokerHarness.Sample(each.priority, each.text))
            .toList());
  }

  // ---- answers ----

  private void receipt(FakePeer from, FakePeer.Receipt receipt) {
    if (from.dead || from != peer) {
      return;
    }
    List<Message> light = volatileRuns.remove(receipt.correlation());
    if (light != null) {
      told(light, receipt.code(), false);
      return;
    }
    Long number = numbers.remove(receipt.correlation());
    Sent sent = number == null ? null : unanswered.get(number);
    if (sent == null) {
      throw new AssertionError("producer " + id + " got an answer to nothing: " + receipt);
    }
    if (!sent.answered) {
      sent.answered = true;
      answered(sent, receipt.code(), false);
    }
    // What was answered is kept until all before it is: after a crash the broker may know neither.
    while (!unanswered.isEmpty() && isSettled(unanswered.firstEntry().getValue())) {
      unanswered.pollFirstEntry();
    }
  }

  private boolean isSettled(Sent sent) {
    return sent.answered && !numbers.containsKey(sent.correlation);
  }

  private void answered(Sent sent, FaultCode code, boolean durably) {
    told(sent.messages(), code, durably || sent.durable());
  }

  private void told(List<Message> messages, FaultCode code, boolean durably) {
    if (code == FaultCode.OK) {
      simulation.model().confirmed(messages, durably);
    } else if (code == FaultCode.MEMORY_FULL || code == FaultCode.TRANSACTION_ROLLED_BACK) {
      messages.forEach(message -> message.refused = true);
    } else {
      throw new AssertionError("producer " + id + " is told " + code + " of " + messages);
    }
  }
}
