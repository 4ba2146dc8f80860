package io.lightmq.node.connection;

import io.netty.channel.Channel;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Map.Entry;
import org.jspecify.annotations.Nullable;

/**
 * Connections of strangers, in the order in which they came. When it is full, one goes for the one
 * that comes, and never that one itself: whoever comes gets in and has the time of as many arrivals
 * as there are places. It is the oldest of the network that has the most, and in it of the address
 * that has the most, so that whoever floods pushes out his own. A few connections are no flood: as
 * long as nobody has more, all are alike and the oldest of all goes.
 *
 * <p>A network is what one person easily has all addresses of: 256 of IPv4, the half of an IPv6
 * address that a provider gives out, and this machine.
 *
 * <p>Not for several threads.
 */
public final class Crowd {
  private static final int PARTS_OF_A_NETWORK = 4;

  private record From(String network, String address) {}

  private final int most;
  private final int mostOfOne;
  private final int few;
  private final Map<Channel, From> crowd = new LinkedHashMap<>();
  private final Map<String, Integer> perAddress = new HashMap<>();
  private final Map<String, Integer> perNetwork = new HashMap<>();

  /**
   * Nobody yet.
   *
   * @param most connections
   * @param mostOfOne of them, from one address
   */
  public Crowd(int most, int mostOfOne) {
    this.most = most;
    this.mostOfOne = mostOfOne;
    this.few = Math.max(1, most / 16);
  }

  /** A connection has come; returns the one that was taken out for it, if any. */
  public @Nullable Channel enter(Channel channel, String address) {
    From from = new From(network(address), address);
    Channel gone = null;
    if (perAddress.getOrDefault(address, 0) >= mostOfOne) {
      gone = oldestOf(from);
    } else if (crowd.size() >= most) {
      gone = oldestOfTheGreediest();
    }
    if (gone != null) {
      leave(gone);
    }
    crowd.put(channel, from);
    perAddress.merge(address, 1, Integer::sum);
    perNetwork.merge(from.network, 1, Integer::sum);
    return gone;
  }

  private @Nullable Channel oldestOf(From from) {
    for (Entry<Channel, From> each : crowd.entrySet()) {
      if (each.getValue().equals(from)) {
        return each.getKey();
      }
    }
    return null;
  }

  private @Nullable Channel oldestOfTheGreediest() {
    Channel found = null;
    int network = 0;
    int address = 0;
    for (Entry<Channel, From> each : crowd.entrySet()) {
      int ofNetwork = greed(perNetwork, each.getValue().network);
      int ofAddress = greed(perAddress, each.getValue().address);
      if (ofNetwork > network || (ofNetwork == network && ofAddress > address)) {
        found = each.getKey();
        network = ofNetwork;
        address = ofAddress;
      }
    }
    return found;
  }

  private int greed(Map<String, Integer> counts, String key) {
    return Math.max(few, counts.getOrDefault(key, 0));
  }

  /** A connection has gone, or is no stranger's any more. */
  public void leave(Channel channel) {
    From from = crowd.remove(channel);
    if (from == null) {
      return;
    }
    perAddress.computeIfPresent(from.address, (key, count) -> count == 1 ? null : count - 1);
    perNetwork.computeIfPresent(from.network, (key, count) -> count == 1 ? null : count - 1);
  }

  /** Connections that are here. */
  public int size() {
    return crowd.size();
  }

  /**
   * The network of an address.
   *
   * @param address as {@link java.net.InetAddress#getHostAddress} writes it
   */
  static String network(String address) {
    if (address.startsWith("127.") || address.equals("0:0:0:0:0:0:0:1")) {
      return "this machine";
    }
    int end = address.lastIndexOf('.');
    if (address.indexOf(':') >= 0) {
      end = -1;
      for (int i = 0; i < PARTS_OF_A_NETWORK; i++) {
        end = address.indexOf(':', end + 1);
        if (end < 0) {
          break;
        }
      }
    }
    return end < 0 ? address : address.substring(0, end);
  }
}
