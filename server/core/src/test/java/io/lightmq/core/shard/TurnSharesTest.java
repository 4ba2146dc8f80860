package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.selector.Work;
import io.lightmq.core.sessions.CommandQueue;
import io.lightmq.core.sim.SimulatedLoops;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the two lanes of the mailbox get of each turn. */
class TurnSharesTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");

  /** More than a turn takes. */
  private static final int FLOOD = 3_000;

  private static final int TURN = 1_024;

  /** Asks again at once whenever it is answered, without end. */
  private static final class Flooding extends FakePeer {
    private final Broker broker;
    private final SimulatedLoops loops;
    int answers;
    int mostOfATurn;
    private int ofThisTurn;
    private long thisTurn;
    boolean more = true;

    Flooding(BrokerHarness h) {
      super((h.broker.epoch() << 32) | 999);
      this.broker = h.broker;
      this.loops = h.loops;
    }

    @Override
    public void reply(int correlation, Reply reply) {
      if (reply instanceof Reply.Attached) {
        super.reply(correlation, reply);
        return;
      }
      answers++;
      ofThisTurn = thisTurn == loops.turns() ? ofThisTurn + 1 : 1;
      thisTurn = loops.turns();
      mostOfATurn = Math.max(mostOfATurn, ofThisTurn);
      if (more) {
        ask();
      }
    }

    void ask() {
      broker.submit(new Command.Acknowledge(this, 7, List.of()));
    }
  }

  /** Notes how far the flood was when its run left the budget. */
  private static final class Publisher extends FakePeer {
    private final Flooding flooding;
    int answersWhenTaken;

    Publisher(long connectionId, Flooding flooding) {
      super(connectionId);
      this.flooding = flooding;
    }

    @Override
    public void credit(long bytes) {
      super.credit(bytes);
      answersWhenTaken = flooding.answers;
    }
  }

  private static void flood(BrokerHarness h, Flooding flooding) {
    h.broker.submit(new Command.Attach(flooding, 1, new UUID(9, 9), 1, 1, null));
    h.reply(flooding, 1);
    for (int i = 0; i < FLOOD; i++) {
      flooding.ask();
    }
  }

  @Test
  void publishesGoOnWhileMoreOthersComeThanATurnTakes() throws Exception {
    BrokerHarness h = new BrokerHarness(1).open();
    Flooding flooding = new Flooding(h);
    Publisher peer = new Publisher((h.broker.epoch() << 32) | 998, flooding);
    int attach = h.nextCorrelation();
    h.broker.submit(new Command.Attach(peer, attach, new UUID(9, 8), 1, 1, null));
    h.reply(peer, attach);
    long id = h.producer(peer, QUEUE);
    flood(h, flooding);
    for (int number = 1; number <= 20; number++) {
      int before = flooding.answers;
      flooding.mostOfATurn = 0;
      assertThat(h.receipt(peer, h.publish(peer, id, number, "m"))).isEqualTo(FaultCode.OK);
      assertThat(peer.answersWhenTaken - before)
          .as("others between a run's arrival and its turn")
          .isLessThanOrEqualTo(FLOOD + TURN);
      assertThat(flooding.mostOfATurn).isEqualTo(TURN);
    }
    assertThat(flooding.answers).isGreaterThan(FLOOD);
    flooding.more = false;
    h.close();
  }

  @Test
  void aRunNeverOvertakesTheCommitThatWasSentBeforeIt() throws Exception {
    BrokerHarness h = new BrokerHarness(2).open();
    FakePeer peer = h.attach();
    long id = h.producer(peer, QUEUE);
    Flooding flooding = new Flooding(h);
    flood(h, flooding);
    int commit = h.nextCorrelation();
    h.broker.submit(
        new Command.Commit(
            peer,
            commit,
            1,
            1,
            List.of(new Command.StagedRun(id, true, 1, h.bytes(true, 0, "first"))),
            List.of()));
    int run = h.publish(peer, id, 2, "second");
    assertThat(h.receipt(peer, run)).isEqualTo(FaultCode.OK);
    assertThat(h.receipt(peer, commit)).isEqualTo(FaultCode.OK);
    assertThat(peer.disconnects).isEmpty();
    flooding.more = false;
    h.close();
  }

  @Test
  void aPeerIsToldOfEveryCommandThatIsNotAnswered() throws Exception {
    BrokerHarness h = new BrokerHarness(4).open();
    FakePeer peer = h.attach();
    h.consumer(peer, 1, QUEUE, Command.Subscribe.QUEUE, null);
    h.broker.submit(new Command.Acknowledge(peer, 0, List.of()));
    h.broker.submit(new Command.Return(peer, 0, List.of(), false, null));
    h.broker.submit(new Command.Pull(peer, 1, 1, 1, 100, 0));
    h.acknowledge(peer, 1, 1);
    assertThat(peer.carriedOut).isEqualTo(3);
    h.close();
  }

  /** Notes how many ranges one turn takes at most, each command having so many. */
  private static final class Naming extends FakePeer {
    private final SimulatedLoops loops;
    private final int ranges;
    long most;
    private long ofThisTurn;
    private long thisTurn;

    Naming(BrokerHarness h, int ranges) {
      super((h.broker.epoch() << 32) | 997);
      this.loops = h.loops;
      this.ranges = ranges;
    }

    @Override
    public void carriedOut() {
      super.carriedOut();
      ofThisTurn = thisTurn == loops.turns() ? ofThisTurn + ranges : ranges;
      thisTurn = loops.turns();
      most = Math.max(most, ofThisTurn);
    }
  }

  private static List<Command> naming(FakePeer peer, long id, int count) {
    List<SequenceRange> ranges = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ranges.add(new SequenceRange(0, 1 + 2 * (i % 60), 1));
    }
    List<Command.Acked> acked = List.of(new Command.Acked(1, id, ranges));
    return List.of(
        new Command.Acknowledge(peer, 0, acked),
        new Command.Return(peer, 0, acked, false),
        new Command.Return(peer, 0, acked, true),
        new Command.Begun(peer, 1, false, acked));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void aTurnTakesSoManyRangesAndPublishesGoOnBesideThem(int kind) throws Exception {
    BrokerHarness h = new BrokerHarness(4).open();
    int ranges = 5_000;
    Naming naming = new Naming(h, ranges);
    h.broker.submit(new Command.Attach(naming, 9_999, new UUID(9, 9), 1, 1, null));
    h.reply(naming, 9_999);
    long id = h.consumer(naming, 1, QUEUE, Command.Subscribe.QUEUE, null);
    FakePeer peer = h.attach();
    h.producer(peer, QUEUE);
    for (int i = 0; i < 200; i++) {
      h.broker.submit(naming(naming, id, ranges).get(kind));
    }
    int between = h.publish(peer, id, 1, "m");
    for (int i = 0; i < 200; i++) {
      h.broker.submit(naming(naming, id, ranges).get(kind));
    }
    assertThat(h.receipt(peer, between)).isEqualTo(FaultCode.OK);
    assertThat(naming.carriedOut).as("commands before the run's answer").isLessThan(350);
    h.loops.runUntilIdle();
    assertThat(naming.carriedOut).isEqualTo(400);
    assertThat(naming.most).isLessThanOrEqualTo(Work.TURN / 2 / Work.PLACE + ranges + 2);
    h.close();
  }

  @Test
  void othersWaitForNoPublish() {
    CommandQueue queue = new CommandQueue();
    FakePeer peer = new FakePeer(1);
    BrokerHarness h = new BrokerHarness(3);
    queue.offer(new Command.Publish(peer, 1, 1, 1, 1, h.bytes(true, 0, "m")));
    queue.offer(new Command.Acknowledge(peer, 2, List.of()));
    queue.offer(new Command.Publish(peer, 3, 1, 2, 1, h.bytes(true, 0, "m")));
    assertThat(queue.pollOther()).isInstanceOf(Command.Acknowledge.class);
    assertThat(queue.pollPublish(0)).isNotNull();
    assertThat(queue.pollPublish(0)).isNull();
    assertThat(queue.pollPublish(1)).isNotNull();
    assertThat(queue.size()).isZero();
  }
}
