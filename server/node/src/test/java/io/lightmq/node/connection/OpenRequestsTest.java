package io.lightmq.node.connection;

import static io.lightmq.node.connection.ConnectionHarness.run;
import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.entry.FaultCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How much of a broker's heap small requests take that wait for their answers. */
class OpenRequestsTest {
  private static final ConnectionSettings MANY = ConnectionHarness.openRequests(16_384);
  private static final int SMALL = 100;
  private static final int STRANGERS = 1_000;

  private final ConnectionHarness harness =
      new ConnectionHarness(MANY, "127.0.0.1").attached().producer();

  private static ByteBuf runs(int count) {
    ByteBuf all = Unpooled.buffer();
    for (int i = 0; i < count; i++) {
      ByteBuf one =
          FrameCodec.encode(
              new Frame.Publish(100 + i, 40, 1 + i, 1, run(SMALL)),
              UnpooledByteBufAllocator.DEFAULT);
      all.writeBytes(one);
      one.release();
    }
    return all;
  }

  private void answer() {
    for (Command command : List.copyOf(harness.commands)) {
      if (command instanceof Command.Publish publish) {
        publish.messages().release();
        publish.peer().receipt(publish.correlation(), FaultCode.OK, "");
      }
    }
    harness.commands.clear();
    harness.channel.runPendingTasks();
  }

  /** Their bytes are far below any credit. */
  @Test
  void aConnectionHasAQuarterOfAllRunsThatWait() {
    harness.sendBytes(runs(500));
    assertThat(harness.commands).hasSize(250);
    assertThat(harness.isReading()).isFalse();
    int taken = 0;
    while (!harness.commands.isEmpty()) {
      taken += harness.commands.size();
      assertThat(harness.commands).hasSizeLessThanOrEqualTo(250);
      answer();
    }
    assertThat(taken).isEqualTo(500);
    assertThat(harness.open.open()).isZero();
    assertThat(harness.isReading()).isTrue();
  }

  @Test
  void whenStrangersHaveAllAConnectionStillHasSome() {
    harness.open.add(STRANGERS);
    harness.sendBytes(runs(200));
    assertThat(harness.commands).hasSize(OpenRequests.FLOOR);
    answer();
    assertThat(harness.commands).as("the next ones").hasSize(OpenRequests.FLOOR);
    harness.open.add(-STRANGERS);
    harness.channel.advanceTimeBy(100, TimeUnit.MILLISECONDS);
    harness.channel.runScheduledPendingTasks();
    harness.channel.runPendingTasks();
    assertThat(harness.commands).as("once they are gone").hasSize(200 - OpenRequests.FLOOR);
    answer();
  }

  @Test
  void whatNeedsNoAnswerCountsUntilItIsCarriedOut() {
    harness.open.add(STRANGERS);
    for (int i = 0; i < 100; i++) {
      harness.send(new Frame.Acknowledge(0, List.of()));
    }
    int taken = 0;
    while (!harness.commands.isEmpty()) {
      assertThat(harness.commands).hasSizeLessThanOrEqualTo(OpenRequests.FLOOR);
      assertThat(harness.open.open()).isEqualTo(STRANGERS + harness.commands.size());
      List<Command> now = List.copyOf(harness.commands);
      taken += now.size();
      harness.commands.clear();
      now.forEach(each -> each.peer().carriedOut());
      harness.channel.runPendingTasks();
    }
    assertThat(taken).isEqualTo(100);
    assertThat(harness.open.open()).isEqualTo(STRANGERS);
  }

  @Test
  void aConnectionThatEndsGivesAllBack() {
    harness.sendBytes(runs(200));
    assertThat(harness.open.open()).isEqualTo(200);
    harness.channel.close();
    harness.channel.runPendingTasks();
    assertThat(harness.open.open()).isZero();
    answer();
    assertThat(harness.open.open()).isZero();
  }

  @Test
  void aSmallHeapHasRoomForFewer() {
    assertThat(OpenRequests.of(64L << 20).share(16_384)).isEqualTo(2_048);
    assertThat(OpenRequests.of(4L << 30).share(16_384)).isEqualTo(16_384);
    assertThat(OpenRequests.of(1 << 20).share(16_384)).isEqualTo(OpenRequests.FLOOR);
    assertThat(OpenRequests.of(1 << 20).share(16)).isEqualTo(16);
  }
}
