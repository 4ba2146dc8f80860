package io.lightmq.server.http;

import io.netty.channel.Channel;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The connections of the admin port. When all places are taken, or all that one address may have,
 * the oldest connection of the address that has the most makes room: whoever fills the port with
 * connections pushes out his own, and a probe of another address always gets in.
 */
final class Seats {
  private final int most;
  private final int mostOfOne;
  private final Map<Channel, String> seats = new LinkedHashMap<>();
  private final Map<String, Integer> perAddress = new HashMap<>();
  private final AtomicLong refused = new AtomicLong();

  Seats(int most, int mostOfOne) {
    this.most = most;
    this.mostOfOne = mostOfOne;
  }

  /** Takes a connection in and returns the one that has to go for it, if any. */
  synchronized @Nullable Channel enter(Channel channel, String address) {
    seats.put(channel, address);
    int own = perAddress.merge(address, 1, Integer::sum);
    Channel gone = null;
    if (own > mostOfOne) {
      gone = oldest(address);
    } else if (seats.size() > most) {
      String greediest = address;
      for (Map.Entry<String, Integer> each : perAddress.entrySet()) {
        if (each.getValue() > perAddress.getOrDefault(greediest, 0)) {
          greediest = each.getKey();
        }
      }
      gone = oldest(greediest);
    }
    if (gone != null) {
      leave(gone);
      refused.incrementAndGet();
    }
    return gone;
  }

  private @Nullable Channel oldest(String address) {
    for (Map.Entry<Channel, String> each : seats.entrySet()) {
      if (each.getValue().equals(address)) {
        return each.getKey();
      }
    }
    return null;
  }

  /** A connection has gone. */
  synchronized void leave(Channel channel) {
    String address = seats.remove(channel);
    if (address != null) {
      perAddress.computeIfPresent(address, (key, count) -> count == 1 ? null : count - 1);
    }
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
