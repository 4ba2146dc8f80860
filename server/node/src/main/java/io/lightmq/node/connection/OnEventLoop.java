package io.lightmq.node.connection;

import io.netty.channel.Channel;

/** Says whether the calling thread is the event loop of a connection; asked at its doors. */
final class OnEventLoop {
  private OnEventLoop() {}

  /** Fails on any thread but that of the channel's event loop. */
  static void check(Channel channel) {
    if (!channel.eventLoop().inEventLoop()) {
      throw new AssertionError(
          "what belongs to the event loop of connection "
              + channel
              + " was called on thread "
              + Thread.currentThread().getName());
    }
  }
}
