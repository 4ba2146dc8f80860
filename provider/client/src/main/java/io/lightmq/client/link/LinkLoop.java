package io.lightmq.client.link;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The event loop that all TCP links of a JVM share, with the thread {@code link-n}. It starts with
 * the first link and ends with the last, leaving no thread.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the loop tells when it has ended
final class LinkLoop {
  private static final long JOIN_MILLIS = 5_000;

  private static @Nullable LinkLoop shared;
  private static int users;
  private static int started;

  private final EventLoop loop;
  private @Nullable Thread thread;

  private LinkLoop(String name) {
    this.loop =
        loop(
            task -> {
              Thread made = new Thread(task, name);
              made.setDaemon(true);
              thread = made;
              return made;
            });
  }

  private static EventLoop loop(ThreadFactory threads) {
    try {
      return OfNetty42.loop(threads);
    } catch (NoClassDefFoundError e) {
      return OfNetty41.loop(threads);
    }
  }

  /** A loop by itself: the end of a group starts a thread of Netty's for a second. */
  private static final class OfNetty42 {
    static EventLoop loop(ThreadFactory threads) {
      return new SingleThreadIoEventLoop(null, threads, NioIoHandler.newFactory());
    }
  }

  /** There a loop over sockets exists in a group only. */
  private static final class OfNetty41 {
    @SuppressWarnings("deprecation") // in 4.2, where it is not used
    static EventLoop loop(ThreadFactory threads) {
      EventLoopGroup group = new NioEventLoopGroup(1, threads);
      return group.next();
    }
  }

  /** The loop, for one more user. */
  static synchronized EventLoop acquire() {
    LinkLoop current = shared;
    if (current == null) {
      started++;
      current = new LinkLoop("link-" + started);
      shared = current;
    }
    users++;
    return current.loop;
  }

  /** Gives up a share; the last one waits until the thread has ended. Not on the loop itself. */
  static void release() {
    LinkLoop ended;
    synchronized (LinkLoop.class) {
      users--;
      if (users > 0) {
        return;
      }
      ended = shared;
      shared = null;
    }
    if (ended != null) {
      ended.end();
    }
  }

  private void end() {
    loop.shutdownGracefully(0, JOIN_MILLIS, TimeUnit.MILLISECONDS);
    Thread current = thread;
    if (current == null || current == Thread.currentThread()) {
      return;
    }
    boolean interrupted = false;
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(JOIN_MILLIS);
    while (current.isAlive()) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
      if (left <= 0) {
        break;
      }
      try {
        current.join(left);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
