package io.lightmq.node.connection;

import io.netty.channel.Channel;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Networks from which logins are refused more often than by mistake, and who has come from there
 * and is not read yet. A refusal costs a stranger nothing, and the broker a connection; so who
 * comes from such a network waits {@link ClientConnection#REFUSED_MILLIS} before anything is read.
 *
 * <p>A flood must not keep an honest newcomer of its network waiting until it is pushed out: when
 * more than {@value #MOST_WAITING} of a network wait, the oldest of them is read. So it has most of
 * its time in the {@link Crowd} for its handshake.
 *
 * <p>Each refusal is forgotten after 100 ms, one behind the other. Not for several threads.
 */
final class SlowNetworks {
  /** Refusals that are not forgotten yet, up to which nobody waits. */
  static final int FREE = 16;

  /** So many are remembered at most: a network is slow for that much longer than it was bad. */
  private static final int REMEMBERED = 2 * FREE;

  /** Of one network, that wait to be read. */
  static final int MOST_WAITING = ConnectionPlaces.HALF_OPEN_PER_ADDRESS / 4;

  /**
   * Networks that are told apart; beyond, the one without a refusal for the longest is forgotten.
   */
  static final int MOST_NETWORKS = 1_024;

  private static final long FORGET_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** When the last refusal of a network is forgotten, by the time of the last. */
  private final LinkedHashMap<String, Long> forgotten = new LinkedHashMap<>();

  /** Who waits, by network in the order in which they came; some of those in the crowd. */
  private final Map<String, Set<Channel>> waiting = new HashMap<>();

  private final Map<Channel, String> networks = new HashMap<>();

  /** A login from an address was refused. */
  void refused(String address, long nanos) {
    String network = Crowd.network(address);
    Long before = forgotten.remove(network);
    long left = before == null ? 0 : Math.max(0, before - nanos);
    long most = (REMEMBERED - 1) * FORGET_NANOS;
    forgotten.put(network, nanos + Math.min(left, most) + FORGET_NANOS);
    if (forgotten.size() > MOST_NETWORKS) {
      Iterator<String> oldest = forgotten.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
  }

  /** Whether who comes from an address now has to wait. */
  boolean isSlow(String address, long nanos) {
    Long until = forgotten.get(Crowd.network(address));
    return until != null && until - nanos > FREE * FORGET_NANOS;
  }

  /** A connection has to wait; returns one that has waited enough for it, if any. */
  @Nullable Channel enter(Channel channel, String address) {
    String network = Crowd.network(address);
    networks.put(channel, network);
    Set<Channel> ofNetwork = waiting.computeIfAbsent(network, unknown -> new LinkedHashSet<>());
    ofNetwork.add(channel);
    if (ofNetwork.size() <= MOST_WAITING) {
      return null;
    }
    Channel first = ofNetwork.iterator().next();
    leave(first);
    return first;
  }

  /** A connection waits no longer, whether it is read or gone; others are left alone. */
  void leave(Channel channel) {
    String network = networks.remove(channel);
    if (network != null) {
      waiting.computeIfPresent(
          network, (same, all) -> all.remove(channel) && all.isEmpty() ? null : all);
    }
  }

  /** Connections that wait. */
  int waiting() {
    return networks.size();
  }
}
