package io.lightmq.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.List;

/**
 * The bytes of frames: pure functions between {@link Frame} and {@link ByteBuf}.
 *
 * <pre>
 *  0 int   length       of what follows this field
 *  4 byte  type         see {@link FrameType}
 *  5 byte  flags        0
 *  6 short reserved     0
 *  8 int   correlation  0 where there is none
 * 12       fields       see {@link ControlFormats}, {@link MessageFormats},
 *                      {@link TransactionFormats}
 * </pre>
 *
 * <p>Numbers are varints of 0 to 2^63 - 1: 7 bits a byte, low first, in the shortest form. A text
 * is a varint length and UTF-8; an optional text's length is one higher, 0 for none.
 */
public final class FrameCodec {
  private FrameCodec() {}

  /**
   * Encodes a frame with its length in front. Consumes the frame: its payload is released or moves
   * into the result, also when encoding fails.
   *
   * @throws IllegalArgumentException if a field is negative or a list too long
   */
  public static ByteBuf encode(Frame frame, ByteBufAllocator allocator) {
    FrameFormats.Format<?> format = FrameFormats.of(frame);
    try {
      return encode(format, frame, new FrameWriter(allocator));
    } finally {
      release(frame);
    }
  }

  private static ByteBuf encode(FrameFormats.Format<?> format, Frame frame, FrameWriter writer) {
    try {
      if (!format.type().correlation().permits(frame.correlation())) {
        throw new IllegalArgumentException(
            format.type() + " cannot have the correlation " + frame.correlation());
      }
      writer.i32(0);
      writer.u8(format.type().code());
      writer.u8(0);
      writer.u8(0);
      writer.u8(0);
      writer.i32(frame.correlation());
      format.write(writer, frame);
      return writer.finish();
    } catch (RuntimeException | Error e) { // there may be no memory for it
      writer.release();
      throw e;
    }
  }

  /** The type of a frame. */
  public static FrameType typeOf(Frame frame) {
    return FrameFormats.of(frame).type();
  }

  /**
   * Decodes one frame, without the length in front, from the reader index to the end. The payload
   * is a retained slice of the buffer; the buffer stays the caller's.
   *
   * @throws ProtocolException if it is not exactly one valid frame
   */
  public static Frame decode(ByteBuf in) {
    if (in.readableBytes() < Protocol.HEADER_BYTES - Protocol.LENGTH_BYTES) {
      throw ProtocolException.bad("a frame of " + in.readableBytes() + " bytes has no header");
    }
    int code = in.readUnsignedByte();
    FrameType type = FrameType.of(code);
    if (type == null) {
      throw ProtocolException.bad("frame type " + code + " is unknown");
    }
    int flagsAndReserved = in.readMedium();
    int correlation = in.readInt();
    if (flagsAndReserved != 0) {
      throw ProtocolException.bad(type + " has flags or reserved bytes that are not 0");
    }
    if (!type.correlation().permits(correlation)) {
      throw ProtocolException.bad(type + " cannot have the correlation " + correlation);
    }
    FrameReader reader = new FrameReader(in);
    try {
      Frame frame = FrameFormats.of(type).read(reader, correlation);
      if (reader.remaining() > 0) {
        throw ProtocolException.bad(type + " has " + reader.remaining() + " bytes too many");
      }
      return frame;
    } catch (ProtocolException e) {
      reader.release();
      throw new ProtocolException(e.code(), type + ": " + e.getMessage());
    } catch (IllegalArgumentException e) {
      reader.release();
      throw ProtocolException.bad(type + ": " + e.getMessage());
    } catch (RuntimeException | Error e) { // there may be no memory for it
      reader.release();
      throw e;
    }
  }

  /** Releases the payload of a frame that is not going to be used. */
  public static void release(Frame frame) {
    if (frame instanceof Frame.Publish publish) {
      publish.messages().release();
    } else if (frame instanceof Frame.Deliver deliver) {
      deliver.entries().release();
    } else if (frame instanceof Frame.Commit commit) {
      release(commit.runs());
    } else if (frame instanceof Frame.Stage stage) {
      release(stage.runs());
    } else if (frame instanceof Frame.Prepare prepare) {
      release(prepare.runs());
    }
  }

  private static void release(List<Frame.StagedRun> runs) {
    runs.forEach(run -> run.messages().release());
  }
}
