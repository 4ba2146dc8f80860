package io.lightmq.server.http;

import io.lightmq.node.connection.Crowd;
import io.netty.channel.Channel;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The connections of the admin port. When all places are taken, or all that one address may have,
 * one of them makes room, see {@link Crowd}: a probe always gets in.
 */
final class Seats {
  private final Crowd seats;
  private final AtomicLong refused = new AtomicLong();

  Seats(int most, int mostOfOne) {
    this.seats = new Crowd(most, mostOfOne);
  }

  /** Takes a connection in and returns the one that has to go for it, if any. */
  synchronized @Nullable Channel enter(Channel channel, String address) {
    Channel gone = seats.enter(channel, address);
    if (gone != null) {
      refused.incrementAndGet();
    }
    return gone;
  }

  /** A connection has gone. */
  synchronized void leave(Channel channel) {
    seats.leave(channel);
  }

  /** A connection was closed because it took too long. */
  void late() {
    refused.incrementAndGet();
  }

  /** Connections that were closed for want of room or for taking too long. */
  long refused() {
    return refused.get();
  }

  synchronized int count() {
    return seats.size();
  }
}
