package io.lightmq.node.connection;

import io.lightmq.core.door.Command;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/** Message bytes of a frame that the shard holds until it has copied them. */
final class HeldBytes implements Command.Bytes {
  private final ByteBuf bytes;
  private final ByteBuffer view;
  private final Runnable released;
  private final AtomicBoolean done = new AtomicBoolean();

  /**
   * Takes over one reference.
   *
   * @param released runs once, on the thread that releases
   */
  HeldBytes(ByteBuf bytes, Runnable released) {
    this.bytes = bytes;
    this.view = bytes.nioBuffer();
    this.released = released;
  }

  @Override
  public ByteBuffer buffer() {
    return view;
  }

  @Override
  public void release() {
    if (!done.compareAndSet(false, true)) {
      throw new IllegalStateException("message bytes were released twice");
    }
    bytes.release();
    released.run();
  }
}
