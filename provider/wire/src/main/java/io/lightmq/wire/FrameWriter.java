package io.lightmq.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import java.util.List;
import java.util.UUID;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the fields of one frame: the counterpart of {@link FrameReader}. Short payloads are copied
 * behind the fields, long ones become a component of a composite buffer.
 */
final class FrameWriter {
  /** Payloads up to this length are copied: cheaper than one more component to write. */
  private static final int COPY_BYTES = 4 * 1024;

  private final ByteBufAllocator allocator;
  private @Nullable CompositeByteBuf parts;
  private ByteBuf out;
  private int itemsLeft = Protocol.MAX_ITEMS;

  FrameWriter(ByteBufAllocator allocator) {
    this.allocator = allocator;
    this.out = allocator.buffer(256);
  }

  void u8(int value) {
    out.writeByte(value);
  }

  void flag(boolean value) {
    out.writeByte(value ? 1 : 0);
  }

  void i32(int value) {
    out.writeInt(value);
  }

  void bits64(long value) {
    out.writeLong(value);
  }

  void uuid(UUID value) {
    out.writeLong(value.getMostSignificantBits());
    out.writeLong(value.getLeastSignificantBits());
  }

  void varint(long value) {
    if (value < 0) {
      throw new IllegalArgumentException("a frame's field must be at least 0, not " + value);
    }
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      out.writeByte((int) rest | 0x80);
      rest >>>= 7;
    }
    out.writeByte((int) rest);
  }

  <T> void list(List<T> items, BiConsumer<FrameWriter, T> item) {
    itemsLeft -= items.size();
    if (itemsLeft < 0) {
      throw new IllegalArgumentException(
          "a frame has at most " + Protocol.MAX_ITEMS + " list items; send several frames");
    }
    varint(items.size());
    for (T each : items) {
      item.accept(this, each);
    }
  }

  void bytes(byte[] value) {
    varint(value.length);
    out.writeBytes(value);
  }

  /** UTF-8; a surrogate without its partner becomes a question mark. */
  void text(String value) {
    int length = ByteBufUtil.utf8Bytes(value);
    varint(length);
    ByteBufUtil.reserveAndWriteUtf8(out, value, length);
  }

  void optionalText(@Nullable String value) {
    if (value == null) {
      varint(0);
    } else {
      int length = ByteBufUtil.utf8Bytes(value);
      varint(length + 1L);
      ByteBufUtil.reserveAndWriteUtf8(out, value, length);
    }
  }

  /** A varint length and the payload, which stays the caller's. */
  void slice(ByteBuf payload) {
    int length = payload.readableBytes();
    varint(length);
    if (length <= COPY_BYTES) {
      out.writeBytes(payload, payload.readerIndex(), length);
      return;
    }
    CompositeByteBuf composite = parts;
    if (composite == null) {
      composite = allocator.compositeBuffer(Integer.MAX_VALUE);
      parts = composite;
    }
    ByteBuf next = allocator.buffer(64);
    composite.addComponent(true, out);
    out = next;
    composite.addComponent(true, payload.retainedSlice());
  }

  /** The whole frame, with its length set. */
  ByteBuf finish() {
    ByteBuf frame = out;
    if (parts != null) {
      frame = parts.addComponent(true, out);
    }
    frame.setInt(frame.readerIndex(), frame.readableBytes() - Protocol.LENGTH_BYTES);
    return frame;
  }

  /** Gives up a frame that could not be written. */
  void release() {
    if (parts != null) {
      parts.release();
    }
    out.release();
  }
}
