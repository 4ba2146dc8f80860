package io.lightmq.node.connection;

import io.netty.channel.Channel;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The places of a broker's connections. Who has not said yet who he is stands in a pool of its own
 * and takes no place of a user; when it is full, or the half of it that one address may have, one
 * of them has to go for the one that comes, see {@link Crowd}. Some places are kept for users who
 * manage the broker. Who comes from where many logins are refused waits before it is read, see
 * {@link SlowNetworks}.
 *
 * <p>Any thread; a lock is taken once for each step of a connection's life, not for its frames, and
 * never while the log is written.
 */
final class ConnectionPlaces {
  /** Connections that may be in their handshake at once. */
  static final int HALF_OPEN = 256;

  /** Of them, from one address. */
  static final int HALF_OPEN_PER_ADDRESS = HALF_OPEN / 2;

  /** Places beside the others that only users have who may manage the broker. */
  static final int KEPT_FOR_MANAGERS = 8;

  private static final long LOG_NANOS = 10_000_000_000L;

  private final Logger log;
  private final int most;
  private final LongSupplier nanos;
  private final Crowd halfOpen = new Crowd(HALF_OPEN, HALF_OPEN_PER_ADDRESS);
  private final SlowNetworks slow = new SlowNetworks();
  private final Set<Channel> taken = new HashSet<>();
  private long refused;
  private long untold;
  private @Nullable Long toldNanos;

  /**
   * Empty places.
   *
   * @param most connections of users
   * @param nanos the time, for the log
   */
  ConnectionPlaces(int most, LongSupplier nanos) {
    this(LoggerFactory.getLogger(ConnectionPlaces.class), most, nanos);
  }

  ConnectionPlaces(Logger log, int most, LongSupplier nanos) {
    this.log = log;
    this.most = most;
    this.nanos = nanos;
  }

  /**
   * What a newcomer brings about.
   *
   * @param gone who has to go for it, if anybody has
   * @param waits whether it is not to be read for {@link ClientConnection#REFUSED_MILLIS}
   * @param passed who is to be read now, since it was passed by so many that wait
   */
  record Arrival(@Nullable Channel gone, boolean waits, @Nullable Channel passed) {}

  /** A connection has come. */
  Arrival arrive(Channel channel, String address) {
    Arrival arrival = enter(channel, address);
    if (arrival.gone() != null) {
      refuse("connections in their handshake", HALF_OPEN);
    }
    return arrival;
  }

  private synchronized Arrival enter(Channel channel, String address) {
    Channel gone = halfOpen.enter(channel, address);
    if (gone != null) {
      slow.leave(gone);
    }
    boolean waits = slow.isSlow(address, nanos.getAsLong());
    return new Arrival(gone, waits, waits ? slow.enter(channel, address) : null);
  }

  /** A connection that had to wait is read. */
  synchronized void read(Channel channel) {
    slow.leave(channel);
  }

  /** A login of a connection was refused. */
  synchronized void refusedLogin(String address) {
    slow.refused(address, nanos.getAsLong());
  }

  /**
   * The user of a connection is known; false if there is no place for him.
   *
   * @param manages whether he may manage the broker
   */
  boolean take(Channel channel, boolean manages) {
    if (sit(channel, manages)) {
      return true;
    }
    refuse("connections", most);
    return false;
  }

  private synchronized boolean sit(Channel channel, boolean manages) {
    halfOpen.leave(channel);
    return taken.size() < (manages ? most + KEPT_FOR_MANAGERS : most) && taken.add(channel);
  }

  /** A connection has gone. */
  synchronized void leave(Channel channel) {
    halfOpen.leave(channel);
    slow.leave(channel);
    taken.remove(channel);
  }

  private void refuse(String what, int limit) {
    long told = countRefused();
    if (told > 0) {
      log.warn(
          "{} connections were refused: {} {} are open, which is the limit; the next line comes in"
              + " {} s at the earliest",
          told,
          limit,
          what,
          LOG_NANOS / 1_000_000_000L);
    }
  }

  /** Counts one; how many are to be told now, 0 while the last line is too young. */
  private synchronized long countRefused() {
    refused++;
    untold++;
    long now = nanos.getAsLong();
    if (toldNanos != null && now - toldNanos < LOG_NANOS) {
      return 0;
    }
    long told = untold;
    untold = 0;
    toldNanos = now;
    return told;
  }

  synchronized int halfOpen() {
    return halfOpen.size();
  }

  /** Connections that are not read yet. */
  synchronized int waiting() {
    return slow.waiting();
  }

  synchronized long refused() {
    return refused;
  }
}
