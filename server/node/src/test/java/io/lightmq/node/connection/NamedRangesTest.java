package io.lightmq.node.connection;

import static io.lightmq.node.connection.ConnectionHarness.run;
import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.FrameType;
import io.lightmq.wire.entry.SequenceRange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The heap of the ranges that frames name is bounded, for one connection and for all. */
class NamedRangesTest {
  private final ConnectionHarness harness = new ConnectionHarness();

  @BeforeEach
  void attach() {
    harness.attached().producer();
  }

  private static List<Frame.Acked> acked(int consumers, int ranges) {
    List<Frame.Acked> acked = new ArrayList<>();
    for (int i = 0; i < consumers; i++) {
      List<SequenceRange> named = new ArrayList<>();
      for (int j = 0; j < ranges; j++) {
        named.add(new SequenceRange(0, 1 + 2L * (j % 60), 1));
      }
      acked.add(new Frame.Acked(1, 1, named));
    }
    return acked;
  }

  private static Frame frame(String kind, List<Frame.Acked> acked) {
    return switch (kind) {
      case "acknowledge" -> new Frame.Acknowledge(0, acked);
      case "asked" -> new Frame.Acknowledge(9, acked);
      case "return" -> new Frame.Return(0, acked, true, "x");
      case "begun" -> new Frame.Begun(1, false, acked);
      default -> new Frame.Commit(10, 1, 10, List.of(), acked);
    };
  }

  private static ByteBuf encode(Frame frame) {
    return FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
  }

  private boolean isReading() {
    return harness.channel.config().isAutoRead();
  }

  private void carryOutAll() {
    List<Command> done = List.copyOf(harness.commands);
    harness.commands.clear();
    done.forEach(each -> each.peer().letGo(each.named()));
    harness.channel.runPendingTasks();
  }

  @ParameterizedTest
  @ValueSource(strings = {"acknowledge", "asked", "return", "begun", "commit"})
  void aConnectionThatHasItsShareIsNotReadUntilTheShardHasCarriedOut(String kind) {
    int sent = 0;
    while (isReading() && sent < 16) {
      harness.send(frame(kind, acked(1, 1_000)));
      sent++;
    }
    assertThat(isReading()).isFalse();
    assertThat(sent).isBetween(ConnectionHarness.DECODED / 4 / 40_000, 8);
    assertThat(harness.commands).hasSize(sent);
    assertThat(harness.decoded.usedBytes()).isBetween(sent * 40_000L, sent * 41_000L);
    carryOutAll();
    assertThat(isReading()).isTrue();
    assertThat(harness.decoded.usedBytes()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"acknowledge", "asked", "return", "begun", "commit"})
  void aFrameIsDecodedOnlyWhenThereIsRoomForWhatItBecomes(String kind) {
    harness.decoded.keep(ConnectionHarness.DECODED - 40_000);
    ByteBuf both = encode(frame(kind, acked(1, 1_000)));
    ByteBuf behind = encode(new Frame.SetClientId(11, "c"));
    both.writeBytes(behind);
    behind.release();
    harness.sendBytes(both);
    assertThat(harness.commands).isEmpty();
    assertThat(isReading()).isFalse();
    harness.decoded.giveBack(ConnectionHarness.DECODED - 40_000);
    harness.channel.runPendingTasks();
    assertThat(harness.commands).hasSize(2);
    assertThat(isReading()).isTrue();
    carryOutAll();
    assertThat(harness.decoded.usedBytes()).isZero();
  }

  @Test
  void whatArrivesInAnyPiecesIsAllThereAndInOrder() {
    ByteBuf all = Unpooled.buffer();
    for (int i = 0; i < 12; i++) {
      ByteBuf one = encode(frame(i % 2 == 0 ? "begun" : "return", acked(1, 20 + i)));
      all.writeBytes(one);
      one.release();
    }
    for (int step = 1; step < all.readableBytes(); step += 7) {
      ByteBuf rest = all.copy();
      harness.decoded.keep(ConnectionHarness.DECODED);
      while (rest.isReadable()) {
        harness.sendBytes(rest.readBytes(Math.min(step, rest.readableBytes())));
      }
      rest.release();
      assertThat(harness.commands).isEmpty();
      harness.decoded.giveBack(ConnectionHarness.DECODED);
      harness.channel.runPendingTasks();
      assertThat(harness.commands)
          .extracting(each -> each.named().get(0).ranges().size())
          .containsExactly(20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
      assertThat(isReading()).isTrue();
      harness.commands.forEach(each -> each.peer().carriedOut());
      carryOutAll();
      assertThat(harness.decoded.usedBytes()).isZero();
    }
    all.release();
  }

  @Test
  void whatIsLargerThanAllGoesAlone() {
    harness.send(frame("acknowledge", acked(1, 29_000)));
    assertThat(harness.commands).hasSize(1);
    harness.send(frame("acknowledge", acked(1, 29_000)));
    assertThat(harness.commands).as("behind another").hasSize(1);
    carryOutAll();
    assertThat(harness.commands).hasSize(1);
    carryOutAll();
    assertThat(harness.decoded.usedBytes()).isZero();
  }

  @Test
  void acknowledgementsOfOneRangeNeverWait() {
    harness.decoded.keep(2 * ConnectionHarness.DECODED);
    harness.send(frame("acknowledge", acked(1, 1)));
    Frame.Acked far =
        new Frame.Acked(Integer.MAX_VALUE, 1L << 40, List.of(new SequenceRange(9, 1L << 40, 9)));
    harness.send(frame("acknowledge", List.of(far)));
    assertThat(harness.commands).hasSize(2);
  }

  @Test
  void whatIsReckonedOfAFramesBytesIsNeverTooLittle() {
    for (int consumers : new int[] {1, 2, 10, 300}) {
      for (int ranges : new int[] {0, 1, 2, 3, 10, 90}) {
        List<Frame.Acked> acked = acked(consumers, ranges);
        ByteBuf encoded = encode(new Frame.Begun(1, false, acked));
        int most = FrameHeap.most(FrameType.BEGUN.code(), encoded.readableBytes() - 4);
        encoded.release();
        harness.send(new Frame.Begun(1, false, acked));
        assertThat(FrameHeap.of(harness.last(Command.Begun.class).named()))
            .as("%d consumers of %d ranges", consumers, ranges)
            .isLessThanOrEqualTo(Math.max(most, 512));
        harness.peer().carriedOut();
        carryOutAll();
      }
    }
  }

  @Test
  void aConnectionThatEndsWhileItWaitsKeepsNothing() {
    harness.decoded.keep(ConnectionHarness.DECODED);
    harness.send(frame("begun", acked(1, 1_000)));
    assertThat(isReading()).isFalse();
    harness.channel.close();
    harness.decoded.giveBack(ConnectionHarness.DECODED);
    harness.channel.runPendingTasks();
    assertThat(harness.decoded.usedBytes()).isZero();
    ConnectionHarness second = new ConnectionHarness().attached().producer();
    second.decoded.keep(ConnectionHarness.DECODED);
    second.send(new Frame.Commit(10, 1, 1, List.of(staged()), acked(1, 1_000)));
    second.decoded.giveBack(ConnectionHarness.DECODED); // admitted, and not told yet
    second.channel.close();
    second.channel.runPendingTasks();
    for (Command each : second.commands) {
      if (each instanceof Command.Commit commit) {
        commit.runs().get(0).messages().release();
      }
      each.peer().letGo(each.named());
    }
    assertThat(second.decoded.usedBytes()).isZero();
    assertThat(second.commits.usedBytes()).isZero();
  }

  private static Frame.StagedRun staged() {
    return new Frame.StagedRun(40, true, 1, run(20 << 10));
  }
}
