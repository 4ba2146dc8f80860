package io.lightmq.wire;

import io.lightmq.wire.entry.FaultCode;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;

/**
 * Cuts a connection's bytes into frames. It begins with the handshake frames of the other side, at
 * most 16 KiB each; {@link #authenticated} admits the rest.
 *
 * <p>A bad frame raises a {@link ProtocolException}; what follows it is thrown away.
 */
public final class FrameDecoder extends ByteToMessageDecoder {
  /** About as much as one read brings. */
  private static final int READ_BYTES = 32 * 1024;

  /** So much room is made for a frame whose first bytes have come; beyond, as much as has come. */
  private static final int FIRST_BYTES = 256 * 1024;

  private final FrameType.Sender peer;
  private boolean authenticated;
  private boolean failed;
  private BooleanSupplier held = () -> false;
  private int maxFrameBytes = Protocol.HANDSHAKE_FRAME_BYTES;

  /** A decoder of what that side sends. */
  public FrameDecoder(FrameType.Sender peer) {
    this.peer = peer;
  }

  /**
   * Admits all frames of the other side, up to a length. To be called on the event loop, before the
   * next frame is decoded: while the frame that completed authentication is handled, or with
   * auto-read off. Above {@link Protocol#MAX_FRAME_BYTES} nothing is admitted, whatever is said.
   */
  public void authenticated(int maxFrameBytes) {
    this.authenticated = true;
    this.maxFrameBytes = Math.min(maxFrameBytes, Protocol.MAX_FRAME_BYTES);
  }

  /**
   * Keeps frames back, with all that has come behind them, while something holds; it is asked
   * before each frame. Whoever ends that passes an empty buffer, and reads nothing meanwhile: what
   * has come is kept. Event loop only.
   */
  public void holdWhile(BooleanSupplier holds) {
    this.held = holds;
  }

  /** Unlike what it overrides this never reads on while reading is switched off. */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    discardSomeReadBytes();
    context.fireChannelReadComplete();
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
    if (failed) {
      in.skipBytes(in.readableBytes());
      return;
    }
    if (in.readableBytes() < Protocol.LENGTH_BYTES || held.getAsBoolean()) {
      return;
    }
    try {
      int at = in.readerIndex();
      int length = in.getInt(at);
      checkLength(length);
      if (in.readableBytes() > Protocol.LENGTH_BYTES) {
        checkType(in.getUnsignedByte(at + Protocol.LENGTH_BYTES));
      }
      if (in.readableBytes() - Protocol.LENGTH_BYTES < length) {
        makeRoom(in, Protocol.LENGTH_BYTES + length);
        return;
      }
      in.skipBytes(Protocol.LENGTH_BYTES);
      out.add(FrameCodec.decode(in.readSlice(length)));
    } catch (ProtocolException e) {
      failed = true;
      in.skipBytes(in.readableBytes());
      throw e;
    }
  }

  /**
   * Grows the buffer for a long frame: to twice what has come of it, so that a header alone
   * reserves nothing and a peer can make this side hold no more than twice what it has sent; at the
   * end to what the frame needs, and what may come with its last bytes. A buffer that frames share
   * stays as it is, and the bytes move to another one with the next read.
   */
  private static void makeRoom(ByteBuf in, int frameBytes) {
    if (frameBytes > READ_BYTES
        && in.readableBytes() > Protocol.HEADER_BYTES
        && in.refCnt() == 1
        && in.writableBytes() < READ_BYTES) {
      int wanted = Math.min(frameBytes + READ_BYTES, Math.max(FIRST_BYTES, 2 * in.readableBytes()));
      if (in.capacity() < wanted && wanted <= in.maxCapacity()) {
        in.discardReadBytes();
        in.capacity(wanted);
      }
    }
  }

  private void checkLength(int length) {
    if (length < Protocol.HEADER_BYTES - Protocol.LENGTH_BYTES) {
      throw ProtocolException.bad(
          "a frame says length " + length + ", which is below its header's");
    }
    if (length > maxFrameBytes - Protocol.LENGTH_BYTES) {
      if (!authenticated && peer == FrameType.Sender.BROKER) {
        throw ProtocolException.bad("the answer says it has " + length + " bytes");
      }
      throw new ProtocolException(
          FaultCode.TOO_LARGE,
          "a frame of "
              + (length + (long) Protocol.LENGTH_BYTES)
              + " bytes; the limit is "
              + maxFrameBytes
              + (authenticated ? "" : " before authentication"));
    }
  }

  private void checkType(int code) {
    FrameType type = FrameType.of(code);
    if (type == null) {
      throw ProtocolException.bad("frame type " + code + " is unknown");
    }
    if (!type.isFrom(peer)) {
      throw ProtocolException.bad(
          type + " is not sent by the " + peer.name().toLowerCase(Locale.ROOT));
    }
    if (!authenticated && !type.isBeforeAuthentication()) {
      throw ProtocolException.bad(type + " before authentication");
    }
  }
}
