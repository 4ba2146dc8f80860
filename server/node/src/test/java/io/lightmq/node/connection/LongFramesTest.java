package io.lightmq.node.connection;

import static io.lightmq.node.connection.ConnectionHarness.run;
import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.entry.SequenceRange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What frames other than runs take of the memory that all connections share. */
class LongFramesTest {
  private final ConnectionHarness harness = new ConnectionHarness();

  @BeforeEach
  void attach() {
    harness.attached().producer();
  }

  private static Frame.Commit commit(int correlation, int bytes) {
    Frame.StagedRun staged = new Frame.StagedRun(40, true, 1, run(bytes));
    return new Frame.Commit(correlation, 1, correlation, List.of(staged), List.of());
  }

  private static Frame.Acknowledge acknowledge(int places) {
    List<SequenceRange> ranges = new ArrayList<>();
    for (int i = 0; i < places; i++) {
      ranges.add(new SequenceRange(4, 1L << 32 | 2L * i, 1));
    }
    return new Frame.Acknowledge(9, List.of(new Frame.Acked(3, 40, ranges)));
  }

  private static ByteBuf encode(Frame frame) {
    return FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
  }

  private boolean isReading() {
    return harness.channel.config().isAutoRead();
  }

  @Test
  void aCommitCountsUntilTheShardHasCopiedItsMessages() {
    harness.send(commit(10, 20 << 10));
    assertThat(harness.commits.usedBytes()).isEqualTo(20 << 10);
    harness.last(Command.Commit.class).runs().get(0).messages().release();
    assertThat(harness.commits.usedBytes()).isZero();
  }

  @Test
  void theRunsOfACommitCountWithTheirHeap() {
    List<Frame.StagedRun> runs = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      runs.add(new Frame.StagedRun(40, true, 1, run(100)));
    }
    harness.send(new Frame.Commit(10, 1, 10, runs, List.of()));
    assertThat(harness.commits.usedBytes()).isBetween(100 * 300L, 100 * 500L);
    harness.last(Command.Commit.class).runs().forEach(each -> each.messages().release());
    assertThat(harness.commits.usedBytes()).isZero();
  }

  @Test
  void aCommitWithoutRoomWaitsUnreadWithWhatIsBehindIt() {
    harness.commits.keep(90 << 10);
    ByteBuf both = encode(commit(10, 20 << 10));
    ByteBuf behind = encode(new Frame.SetClientId(11, "c"));
    both.writeBytes(behind);
    behind.release();
    harness.sendBytes(both);
    assertThat(harness.commands).isEmpty();
    assertThat(isReading()).isFalse();
    harness.commits.giveBack(90 << 10);
    harness.channel.runPendingTasks();
    assertThat(harness.commands).hasSize(2);
    assertThat(isReading()).isTrue();
  }

  @Test
  void aLongAcknowledgementCountsOnlyWhileItArrives() {
    ByteBuf bytes = encode(acknowledge(5_000));
    assertThat(bytes.readableBytes()).isGreaterThan(InboundGate.SMALL_BYTES);
    int length = bytes.readableBytes() - 4;
    harness.sendBytes(bytes.readBytes(100));
    assertThat(harness.requests.usedBytes()).isEqualTo(length);
    harness.sendBytes(bytes);
    assertThat(harness.last(Command.Acknowledge.class).acked().get(0).ranges()).hasSize(5_000);
    assertThat(harness.requests.usedBytes()).isZero();
  }

  @Test
  void aShortAcknowledgementNeverWaits() {
    harness.requests.keep(1 << 20);
    harness.commits.keep(1 << 20);
    harness.send(acknowledge(100));
    harness.last(Command.Acknowledge.class);
  }

  @Test
  void aConnectionThatEndsGivesBackWhatArrivesAndStopsWaiting() {
    ByteBuf bytes = encode(commit(10, 20 << 10));
    harness.sendBytes(bytes.readBytes(100));
    bytes.release();
    harness.channel.close();
    assertThat(harness.commits.usedBytes()).isZero();
    ConnectionHarness second = new ConnectionHarness().attached().producer();
    second.commits.keep(90 << 10);
    second.send(commit(10, 20 << 10));
    second.channel.close();
    second.commits.giveBack(90 << 10);
    assertThat(second.commits.usedBytes()).isZero();
  }

  @Test
  void aFrameThatDoesNotArriveKeepsItsRoomOnlyWhileNobodyWantsIt() {
    ByteBuf bytes = encode(commit(10, 20 << 10));
    harness.sendBytes(bytes.readBytes(100));
    bytes.release();
    for (int i = 0; i < 5; i++) {
      passes(InboundGate.ARRIVAL_MILLIS);
      assertThat(harness.channel.isActive()).isTrue();
    }
    harness.commits.keep(90 << 10);
    assertThat(harness.commits.take(20 << 10, () -> {})).isFalse();
    harness.channel.advanceTimeBy(InboundGate.ARRIVAL_MILLIS, TimeUnit.MILLISECONDS);
    harness.channel.runScheduledPendingTasks();
    assertThat(harness.goodbye().text()).contains("has not arrived", "others wait");
    assertThat(harness.commits.usedBytes()).isEqualTo(90 << 10);
  }

  private void passes(int millis) {
    harness.channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
    harness.channel.runScheduledPendingTasks();
    harness.sendBytes(Unpooled.buffer().writeZero(1)); // one more of its bytes
  }

  @Test
  void framesThatArriveInTimeAreNotEndedThoughOthersWait() {
    harness.commits.keep(70 << 10);
    harness.commits.take(100 << 10, () -> {});
    for (int i = 10; i < 20; i++) {
      ByteBuf bytes = encode(commit(i, 15 << 10));
      harness.sendBytes(bytes.readBytes(100));
      harness.channel.advanceTimeBy(InboundGate.ARRIVAL_MILLIS - 1_000, TimeUnit.MILLISECONDS);
      harness.channel.runScheduledPendingTasks();
      harness.sendBytes(bytes);
      harness.last(Command.Commit.class).runs().get(0).messages().release();
      assertThat(harness.channel.isActive()).isTrue();
    }
  }

  @Test
  void aRequestOfMoreThanItsLimitEndsTheConnectionUnread() {
    ConnectionSettings longMessages =
        ConnectionHarness.SETTINGS.with(
            ConnectionHarness.SETTINGS.sizes().withMaxMessageBytes(1 << 20));
    ConnectionHarness other = new ConnectionHarness(longMessages, "127.0.0.1").attached();
    other.sendBytes(encode(acknowledge(1)).setInt(0, ConnectionSettings.MAX_REQUEST_BYTES + 1));
    assertThat(other.goodbye().text())
        .contains(String.valueOf(ConnectionSettings.MAX_REQUEST_BYTES));
  }
}
