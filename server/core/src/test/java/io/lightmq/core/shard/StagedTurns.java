package io.lightmq.core.shard;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/**
 * Measures for how long the shard is busy with the end of one transaction that has staged and
 * acknowledged many messages: {@code StagedTurns [MESSAGES] [EVERY]}; of the messages in the queue
 * it acknowledges each, or each second one and so on. Prints the time of the turns, with all that
 * the simulated disk and the other loops do meanwhile.
 */
final class StagedTurns {
  private static final DestinationName FROM = new DestinationName(DestinationKind.QUEUE, "from");
  private static final DestinationName TO = new DestinationName(DestinationKind.QUEUE, "to");
  private static final int PART = 500;

  private final BrokerHarness h = new BrokerHarness(5);
  private final int messages;
  private final int every;
  private FakePeer peer;
  private long epoch;
  private long number;
  private long from;
  private long to;
  private long transaction;

  private StagedTurns(int messages, int every) {
    this.messages = messages;
    this.every = every;
  }

  public static void main(String[] arguments) throws IOException {
    int messages = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
    int every = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1;
    for (int round = 0; round < 2; round++) {
      new StagedTurns(messages, every).run();
    }
  }

  private void run() throws IOException {
    h.settings = BrokerHarness.settings(8 << 20, 16 << 20);
    h.settings = h.settings.with(h.settings.limits().withMaxTransactionBytes(1 << 20));
    open();
    for (int sent = 0; sent < messages * every; sent += PART) {
      h.receipt(peer, h.publish(peer, from, ++number, texts()));
    }
    work(1);
    time("rollback", () -> abandon(1));
    work(2);
    time("lost link", () -> h.broker.submit(new Command.Detach(peer, false)));
    attach();
    work(3);
    h.crash(false);
    time("start behind a kill", this::open);
    work(4);
    time("commit", () -> commit(4));
    h.close();
  }

  /** May throw what opening does. */
  private interface Step {
    void run() throws IOException;
  }

  private void time(String what, Step step) throws IOException {
    h.loops.runUntilIdle();
    long begin = System.nanoTime();
    step.run();
    h.loops.runUntilIdle();
    System.out.printf("%-20s %,10d us%n", what, (System.nanoTime() - begin) / 1_000);
  }

  private static String[] texts() {
    String[] texts = new String[PART];
    Arrays.fill(texts, "x");
    return texts;
  }

  private void open() throws IOException {
    h.open();
    attach();
  }

  private void attach() {
    peer = h.attach(new UUID(1, ++epoch), 1, 1, null);
    number = 0;
    from = h.producer(peer, FROM);
    to = h.producer(peer, TO);
    h.consumer(peer, 1, FROM, Subscribe.QUEUE, null);
  }

  private void work(long local) {
    transaction = 0;
    for (int done = 0; done < messages; ) {
      List<FakePeer.Received> got = h.pull(peer, 1, PART * every);
      if (got.isEmpty()) {
        throw new AssertionError("nothing more comes behind " + done);
      }
      done += got.size() / every;
      Command.Acked acked =
          new Command.Acked(
              1,
              from,
              java.util.stream.IntStream.range(0, got.size() / every)
                  .mapToObj(i -> got.get(i * every).range())
                  .toList());
      int c = h.nextCorrelation();
      Command.StagedRun run = new Command.StagedRun(to, true, PART, h.bytes(true, 0, texts()));
      h.broker.submit(
          new Command.Stage(
              peer, c, 1, transaction, List.of(run), List.of(acked), new Branch.Local(local)));
      transaction = ((Peer.Reply.Staged) h.reply(peer, c)).transaction();
      peer.received.clear();
    }
  }

  private void abandon(long local) {
    h.broker.submit(new Command.Abandon(peer, h.nextCorrelation(), new Branch.Local(local), true));
  }

  private void commit(long local) {
    h.broker.submit(
        new Command.Commit(
            peer,
            h.nextCorrelation(),
            1,
            ++number,
            List.of(),
            List.of(),
            new Command.Step.Commits(new Command.Staged(new Branch.Local(local), transaction))));
  }
}
