package io.lightmq.node.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.SequenceRange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What one connection sends keeps an event loop from the others for one slice at most. */
class DecodeTurnsTest {
  private static final int FRAMES = 12;

  /** What one of the frames takes at most. */
  private static final int FRAME_HEAP = 23 * 6_000;

  private final Deque<Runnable> nextTurn = new ArrayDeque<>();
  private final DecodeTurns turns = new DecodeTurns(nextTurn::add);
  private final ConnectionHarness attacker = connection();

  private ConnectionHarness connection() {
    ConnectionSettings many = ConnectionHarness.openRequests(16_384);
    return new ConnectionHarness(many, "127.0.0.1", turns);
  }

  private static ByteBuf acknowledgements(int frames) {
    List<SequenceRange> ranges = Collections.nCopies(2_000, new SequenceRange(0, 1, 1));
    ByteBuf all = Unpooled.buffer();
    for (int i = 0; i < frames; i++) {
      ByteBuf one =
          FrameCodec.encode(
              new Frame.Acknowledge(0, List.of(new Frame.Acked(1, 1, ranges))),
              UnpooledByteBufAllocator.DEFAULT);
      all.writeBytes(one);
      one.release();
    }
    return all;
  }

  private void turn() {
    List<Runnable> now = new ArrayList<>(nextTurn);
    nextTurn.clear();
    now.forEach(Runnable::run);
  }

  /** The shard is fast: only the event loop stands between an attacker and the others. */
  private static int carryOut(ConnectionHarness of) {
    List<Command> done = List.copyOf(of.commands);
    of.commands.clear();
    for (Command each : done) {
      each.peer().letGo(each.named());
      each.peer().carriedOut();
    }
    of.channel.runPendingTasks();
    return done.size();
  }

  @Test
  void eachStepOfAHandshakeWaitsForOneSlice() {
    attacker.attached();
    attacker.sendBytes(acknowledgements(FRAMES));
    int most = DecodeTurns.TURN_BYTES / FRAME_HEAP + 1;
    int decoded = carryOut(attacker);
    assertThat(decoded).isBetween(1, most);
    ConnectionHarness other = connection();
    other.hello(); // answered while the attacker's frames wait
    for (int turn = 0; decoded < FRAMES; turn++) {
      assertThat(turn).isLessThan(FRAMES);
      turn();
      int inThisTurn = carryOut(attacker);
      assertThat(inThisTurn).as("decoded between two steps of others").isBetween(1, most);
      decoded += inThisTurn;
    }
    assertThat(attacker.decoded.usedBytes()).isZero();
    assertThat(attacker.isReading()).isTrue();
  }

  @Test
  void connectionsTakeTurns() {
    ConnectionHarness second = connection();
    attacker.attached();
    second.attached();
    attacker.sendBytes(acknowledgements(FRAMES));
    carryOut(attacker);
    second.sendBytes(acknowledgements(FRAMES));
    assertThat(second.commands).as("its turn is over").isEmpty();
    for (int turn = 0; turn < 4; turn++) {
      turn();
      int one = carryOut(attacker);
      int other = carryOut(second);
      assertThat(one + other).isBetween(1, DecodeTurns.TURN_BYTES / FRAME_HEAP + 1);
      assertThat(Math.abs(one - other)).as("of turn %d", turn).isLessThanOrEqualTo(2);
    }
    attacker.channel.close();
    second.channel.close();
  }

  @Test
  void aConnectionThatEndsWhileItWaitsKeepsNothing() {
    attacker.attached();
    attacker.sendBytes(acknowledgements(FRAMES));
    carryOut(attacker);
    attacker.channel.close();
    attacker.channel.runPendingTasks();
    assertThat(attacker.decoded.usedBytes()).isZero();
    turn();
    assertThat(attacker.commands).noneMatch(Command.Acknowledge.class::isInstance);
    ConnectionHarness other = connection().attached();
    other.sendBytes(acknowledgements(1));
    assertThat(other.commands).hasSize(1);
  }

  @Test
  void shortFramesDoNotWait() {
    attacker.attached();
    attacker.sendBytes(acknowledgements(FRAMES));
    ConnectionHarness other = connection().attached();
    other.send(
        new Frame.Acknowledge(
            0, List.of(new Frame.Acked(1, 1, List.of(new SequenceRange(0, 1, 1))))));
    assertThat(other.commands).hasSize(1);
  }

  /** A loop looks at its sockets before what was scheduled in its tasks runs. */
  @Test
  void aLoopOfItsOwnGoesOnByItself() {
    ConnectionHarness alone = new ConnectionHarness().attached();
    alone.channel.freezeTime();
    ByteBuf all = acknowledgements(FRAMES);
    alone.channel.writeInbound(all);
    int decoded = 0;
    for (int turn = 0; decoded < FRAMES; turn++) {
      assertThat(turn).isLessThan(10 * FRAMES);
      decoded += carryOut(alone);
      alone.channel.advanceTimeBy(1, TimeUnit.MILLISECONDS);
      alone.channel.runScheduledPendingTasks();
    }
    alone.send(Protocol.hello("again"));
    assertThat(alone.channel.isActive()).as("after a frame that may not come").isFalse();
  }
}
