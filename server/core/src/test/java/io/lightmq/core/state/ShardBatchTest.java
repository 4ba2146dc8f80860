package io.lightmq.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.storage.journal.Window;
import io.lightmq.spi.Journal;
import io.lightmq.spi.Mark;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShardBatchTest {
  private static final ShardBatch.Observer NOBODY =
      new ShardBatch.Observer() {
        @Override
        public void marksMoved() {}

        @Override
        public void ended(Journal.Outcome outcome) {}
      };

  private final DirectMemory memory = new DirectMemory();

  @Test
  void asManyWaitForTheForceAsReceiptsNeedIt() {
    try (Window window = new Window(memory, 1 << 16, 0)) {
      BatchBuilder builder = new BatchBuilder(window);
      builder.put(ByteBuffer.allocate(10));
      for (int i = 0; i < 3; i++) {
        builder.effect(Mark.DURABLE, () -> {});
      }
      builder.effect(Mark.WRITTEN, () -> {});
      ShardBatch batch = builder.end(NOBODY);
      assertThat(batch.wantsForce()).isTrue();
      assertThat(batch.waiters()).isEqualTo(3);
    }
  }

  @Test
  void nobodyWaitsForAForceThatTheShardItselfWants() {
    try (Window window = new Window(memory, 1 << 16, 0)) {
      BatchBuilder builder = new BatchBuilder(window);
      builder.put(ByteBuffer.allocate(10));
      builder.wantsForce();
      ShardBatch batch = builder.end(NOBODY);
      assertThat(batch.wantsForce()).isTrue();
      assertThat(batch.waiters()).isZero();
    }
  }

  @Test
  void theNextBatchCountsAnew() {
    try (Window window = new Window(memory, 1 << 16, 0)) {
      BatchBuilder builder = new BatchBuilder(window);
      builder.put(ByteBuffer.allocate(10));
      builder.effect(Mark.DURABLE, () -> {});
      assertThat(builder.end(NOBODY).waiters()).isEqualTo(1);
      builder.put(ByteBuffer.allocate(10));
      builder.effect(Mark.WRITTEN, () -> {});
      assertThat(builder.end(NOBODY).waiters()).isZero();
    }
  }

  @Test
  void theShardLooksAtWhatIsWrittenOnlyIfSomethingGoesOnThen() {
    try (Window window = new Window(memory, 1 << 16, 0)) {
      BatchBuilder builder = new BatchBuilder(window);
      assertThat(lookedAfterTheWrite(builder)).as("nobody waits for a force").isEqualTo(1);
      builder.put(ByteBuffer.allocate(10));
      builder.effect(Mark.DURABLE, () -> {});
      assertThat(lookedAfterTheWrite(builder)).as("a receipt behind the force").isZero();
      builder.put(ByteBuffer.allocate(10));
      builder.effect(Mark.DURABLE, () -> {});
      builder.shardWaitsForWritten();
      assertThat(lookedAfterTheWrite(builder)).as("a message to be shown too").isEqualTo(1);
      builder.put(ByteBuffer.allocate(10));
      builder.wantsForce();
      assertThat(lookedAfterTheWrite(builder)).as("the next one begins anew").isZero();
    }
  }

  /** How often the shard is told of the marks before the batch ends; then it always is. */
  private static int lookedAfterTheWrite(BatchBuilder builder) {
    builder.put(ByteBuffer.allocate(10));
    List<String> told = new ArrayList<>();
    ShardBatch batch =
        builder.end(
            new ShardBatch.Observer() {
              @Override
              public void marksMoved() {
                told.add("moved");
              }

              @Override
              public void ended(Journal.Outcome outcome) {
                told.add("ended");
              }
            });
    batch.written();
    int looked = told.size();
    batch.completed(Journal.Outcome.DONE);
    assertThat(told).hasSize(looked + 1).endsWith("ended");
    return looked;
  }
}
