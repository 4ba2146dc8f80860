package io.lightmq.node.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageWriter;
import io.lightmq.wire.entry.SequenceRange;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No client says what only the provider may say. */
class SentMessagesTest {
  private static final Map<String, Object> FORGED =
      Map.of("JMSXUserID", "root", "JMS_LightMQ_Origin", "payroll", "JMSXGroupID", "g", "n", 1);

  private final ConnectionHarness harness = new ConnectionHarness().attached().producer();

  private static byte[] message(String text, Map<String, Object> properties) {
    MessageWriter writer = new MessageWriter(1 << 16);
    writer.start(BodyType.TEXT, 4, true, 0, 0).properties(properties).textBody(text).finish();
    return writer.toByteArray();
  }

  private static ByteBuf run(byte[]... messages) {
    ByteBuf run = Unpooled.buffer();
    for (byte[] message : messages) {
      run.writeInt(message.length).writeBytes(message);
    }
    return run;
  }

  private static List<MessageReader> read(Command.Bytes run) {
    ByteBuffer bytes = run.buffer();
    List<MessageReader> messages = new ArrayList<>();
    int at = bytes.position();
    while (at < bytes.limit()) {
      int length = bytes.getInt(at);
      MessageReader.check(bytes, at + 4, length);
      messages.add(new MessageReader(bytes, at + 4, length));
      at += 4 + length;
    }
    return messages;
  }

  private static void areClean(Command.Bytes run) {
    List<MessageReader> messages = read(run);
    assertThat(messages).extracting(MessageReader::textBody).containsExactly("a", "b", "c");
    for (MessageReader each : messages) {
      assertThat(each.properties())
          .doesNotContainKeys("JMSXUserID", "JMS_LightMQ_Origin")
          .containsEntry("n", 1);
    }
    assertThat(messages.get(1).properties()).containsEntry("JMSXGroupID", "g");
  }

  private static ByteBuf mixed() {
    Map<String, Object> honest = Map.of("n", 1);
    return run(message("a", honest), message("b", FORGED), message("c", FORGED));
  }

  @Test
  void aRunIsTakenWithoutWhatOnlyTheProviderSets() {
    ByteBuf sent = mixed();
    harness.send(new Frame.Publish(9, 40, 5, 3, sent));
    Command.Publish publish = harness.last(Command.Publish.class);
    assertThat(publish.count()).isEqualTo(3);
    areClean(publish.messages());
    publish.messages().release();
  }

  @Test
  void soAreTheRunsOfATransaction() {
    harness.send(
        new Frame.Commit(
            9,
            1,
            5,
            List.of(
                new Frame.StagedRun(40, true, 3, mixed()),
                new Frame.StagedRun(40, true, 3, mixed())),
            List.of()));
    Command.Commit commit = harness.last(Command.Commit.class);
    commit
        .runs()
        .forEach(
            run -> {
              areClean(run.messages());
              run.messages().release();
            });
    assertThat(harness.commits.usedBytes()).isZero();
  }

  /** Has memory for so many copies and no more, and remembers these. */
  private static final class Scarce extends AbstractByteBufAllocator {
    private final List<ByteBuf> copies = new ArrayList<>();
    private final int most;

    Scarce(int most) {
      super(true);
      this.most = most;
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
      return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
      if (initialCapacity != maxCapacity) { // of another frame
        return UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
      }
      if (copies.size() == most) {
        throw new OutOfMemoryError("of direct memory, in a test");
      }
      ByteBuf copy = UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
      copies.add(copy);
      return copy;
    }

    @Override
    public boolean isDirectBufferPooled() {
      return false;
    }
  }

  private static ConnectionHarness with(Scarce memory) {
    ConnectionHarness scarce = new ConnectionHarness();
    scarce.channel.config().setAllocator(memory);
    return scarce.attached().producer();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aTransactionForWhoseCopiesThereIsNoMemoryKeepsNone(int copies) {
    Scarce memory = new Scarce(copies);
    ConnectionHarness scarce = with(memory);
    List<ByteBuf> sent = List.of(mixed(), mixed(), mixed());
    ByteBuf frame =
        FrameCodec.encode(
            new Frame.Commit(
                9,
                1,
                5,
                sent.stream().map(run -> new Frame.StagedRun(40, true, 3, run)).toList(),
                List.of(new Frame.Acked(1, 1, List.of(new SequenceRange(0, 1, 2))))),
            UnpooledByteBufAllocator.DEFAULT);
    scarce.sendBytes(frame);
    assertThat(scarce.commands).as("a detach only").noneMatch(Command.Commit.class::isInstance);
    assertThat(scarce.channel.isActive()).isFalse();
    scarce.channel.finishAndReleaseAll();
    assertThat(scarce.commits.usedBytes()).isZero();
    assertThat(memory.copies).hasSize(copies).allMatch(copy -> copy.refCnt() == 0);
    assertThat(frame.refCnt()).isZero();
  }

  @Test
  void norDoesARun() {
    ConnectionHarness scarce = with(new Scarce(0));
    ByteBuf frame =
        FrameCodec.encode(
            new Frame.Publish(9, 40, 5, 3, mixed()), UnpooledByteBufAllocator.DEFAULT);
    scarce.sendBytes(frame);
    assertThat(scarce.commands).noneMatch(Command.Publish.class::isInstance);
    assertThat(scarce.channel.isActive()).isFalse();
    scarce.channel.finishAndReleaseAll();
    assertThat(frame.refCnt()).isZero();
  }

  @Test
  void aRunWithoutSuchPropertiesIsNotCopied() {
    ByteBuf sent = run(message("a", Map.of("n", 1)), message("b", Map.of("JMSXGroupSeq", 2)));
    ByteBuf taken = SentMessages.of(sent, 2, harness.channel.alloc());
    assertThat(taken).isSameAs(sent);
    taken.release();
  }

  @Test
  void aDamagedMessageStaysDamaged() {
    byte[] damaged = message("a", FORGED);
    damaged[damaged.length - 1] ^= 1;
    harness.send(new Frame.Publish(9, 40, 5, 1, run(damaged)));
    Command.Publish publish = harness.last(Command.Publish.class);
    assertThat(publish.messages().buffer())
        .isEqualTo(
            ByteBuffer.allocate(4 + damaged.length).putInt(damaged.length).put(damaged).flip());
    publish.messages().release();
  }
}
