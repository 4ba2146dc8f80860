package io.lightmq.node.connection;

import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageEdit;
import io.lightmq.wire.entry.ProviderNames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;

/**
 * The messages of a run as they may be stored: without properties that only the provider sets, so
 * that no receiver and no administrator takes a client's word for the broker's.
 */
final class SentMessages {
  private static final int LENGTH_BYTES = 4;

  private SentMessages() {}

  /**
   * The run itself, as nearly always; else a copy in which these properties are missing.
   *
   * @param run whose messages are whole; taken over, unless this throws
   */
  static ByteBuf of(ByteBuf run, int count, ByteBufAllocator allocator) {
    ByteBuffer bytes = run.nioBuffer();
    int at = bytes.position();
    for (int i = 0; i < count; i++) {
      int length = bytes.getInt(at);
      if (ProviderNames.mayBeIn(bytes, at + LENGTH_BYTES, length)) {
        ByteBuf copy = copy(bytes, count, allocator);
        run.release();
        return copy;
      }
      at += LENGTH_BYTES + length;
    }
    return run;
  }

  private static ByteBuf copy(ByteBuffer bytes, int count, ByteBufAllocator allocator) {
    ByteBuf copy = allocator.directBuffer(bytes.remaining(), bytes.remaining());
    try {
      write(bytes, count, copy);
      return copy;
    } catch (RuntimeException | Error e) {
      copy.release();
      throw e;
    }
  }

  private static void write(ByteBuffer bytes, int count, ByteBuf copy) {
    int at = bytes.position();
    for (int i = 0; i < count; i++) {
      int length = bytes.getInt(at);
      ByteBuffer message = bytes.slice(at + LENGTH_BYTES, length);
      if (ProviderNames.mayBeIn(bytes, at + LENGTH_BYTES, length)) {
        message = without(message);
      }
      copy.writeInt(message.remaining());
      copy.writeBytes(message);
      at += LENGTH_BYTES + length;
    }
  }

  private static ByteBuffer without(ByteBuffer message) {
    try {
      return MessageEdit.withoutProviderNames(message, 0, message.remaining());
    } catch (MalformedMessageException e) {
      return message; // damaged: nobody reads properties of it
    }
  }
}
