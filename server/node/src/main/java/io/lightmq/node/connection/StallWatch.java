package io.lightmq.node.connection;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;

/** Notices that bytes wait to be written and none of them goes out. Event loop only. */
final class StallWatch {
  private final Channel channel;
  private boolean waited;
  private int lastMessage;
  private long lastProgress;
  private long lastPending;

  StallWatch(Channel channel) {
    this.channel = channel;
  }

  /** Whether nothing has gone out since the call before although something waits. */
  boolean stalled() {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
    if (buffer == null || buffer.isEmpty()) {
      waited = false;
      return false;
    }
    int message = System.identityHashCode(buffer.current());
    long progress = buffer.currentProgress();
    long pending = buffer.totalPendingWriteBytes();
    boolean stalled =
        waited && message == lastMessage && progress == lastProgress && pending >= lastPending;
    waited = true;
    lastMessage = message;
    lastProgress = progress;
    lastPending = pending;
    return stalled;
  }
}
