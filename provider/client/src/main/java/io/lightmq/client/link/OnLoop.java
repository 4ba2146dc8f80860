package io.lightmq.client.link;

import io.netty.channel.EventLoop;

/** Says whether the calling thread may touch what belongs to a link's loop; asked at its doors. */
final class OnLoop {
  private OnLoop() {}

  /** Fails on any thread but the loop's, which may be any once the loop has ended. */
  static void check(EventLoop loop) {
    if (!loop.inEventLoop() && !loop.isShutdown()) {
      throw new AssertionError(
          "what belongs to the loop of a link was called on thread "
              + Thread.currentThread().getName());
    }
  }
}
