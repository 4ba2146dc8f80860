package io.lightmq.node.connection;

import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * The log lines that a peer can cause, however often it does so. In ten seconds each address has
 * ten lines and all together have a hundred; of the rest only the number is told, once those ten
 * seconds are over. Lines are told apart by address alone, so one that fails to sign in a thousand
 * times writes ten.
 *
 * <p>Who sets the level to DEBUG gets all of them. At most 1,024 addresses are told apart in such a
 * time; all others share the lines of one. Texts of peers are given to it as {@link
 * io.lightmq.wire.entry.Printable} shows them. Any thread; nothing is written under the lock, so
 * that a slow log holds up nobody but who writes.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what is told late is told with the next line
final class PeerLog {
  static final int LINES_OF_ADDRESS = 10;
  static final int LINES_OF_ALL = 100;
  static final int WINDOW_SECONDS = 10;
  static final int MAX_ADDRESSES = 1_024;

  private final Logger log;
  private final LongSupplier nanoTime;
  private final Map<String, Lines> byAddress = new HashMap<>();
  private boolean open;
  private long openedNanos;
  private int written;
  private long left;

  /** What an address has written and wanted to write in this window. */
  private static final class Lines {
    private int written;
    private long left;
  }

  PeerLog(Logger log, LongSupplier nanoTime) {
    this.log = log;
    this.nanoTime = nanoTime;
  }

  /** Writes a line about a peer, or counts it. */
  void write(Level level, Channel peer, String format, @Nullable Object... arguments) {
    if (!log.isEnabledForLevel(level)) {
      return;
    }
    if (log.isDebugEnabled()) {
      log.atLevel(level).log(format, arguments);
      return;
    }
    Admission admission = admit(peer);
    tell(admission.rest());
    if (admission.line()) {
      log.atLevel(level).log(format, arguments);
    }
  }

  /** Whether a line may be written, and what is to be told before it. */
  private record Admission(boolean line, @Nullable Rest rest) {}

  /** What was left out in a time that is over, and about whom most of it was. */
  private record Rest(long left, long mostLeft, String most) {}

  private synchronized Admission admit(Channel peer) {
    long now = nanoTime.getAsLong();
    Rest rest = null;
    if (open && now - openedNanos >= TimeUnit.SECONDS.toNanos(WINDOW_SECONDS)) {
      rest = endWindow();
    }
    if (!open) {
      open = true;
      openedNanos = now;
    }
    Lines lines = lines(host(peer.remoteAddress()));
    if (lines.written < LINES_OF_ADDRESS && written < LINES_OF_ALL) {
      lines.written++;
      written++;
      return new Admission(true, rest);
    }
    lines.left++;
    if (left++ == 0 && !tellLater(peer, openedNanos, now)) {
      rest = endWindow(); // not of a window that has just begun, which leaves nothing out yet
    }
    return new Admission(false, rest);
  }

  private Lines lines(String host) {
    Lines known = byAddress.get(host);
    if (known != null) {
      return known;
    }
    String key = byAddress.size() < MAX_ADDRESSES ? host : "other addresses";
    return byAddress.computeIfAbsent(key, unknown -> new Lines());
  }

  /** So that the number is told when nothing more comes, too; false if that loop has ended. */
  private boolean tellLater(Channel peer, long ofNanos, long now) {
    long rest = TimeUnit.SECONDS.toNanos(WINDOW_SECONDS) - (now - ofNanos);
    try {
      peer.eventLoop().schedule(() -> windowEnds(ofNanos), rest, TimeUnit.NANOSECONDS);
      return true;
    } catch (RejectedExecutionException loopHasEnded) {
      return false;
    }
  }

  private void windowEnds(long ofNanos) {
    tell(endWindow(ofNanos));
  }

  private synchronized @Nullable Rest endWindow(long ofNanos) {
    return open && openedNanos == ofNanos ? endWindow() : null;
  }

  private @Nullable Rest endWindow() {
    Rest rest = null;
    if (left > 0) {
      String most = "";
      long mostLeft = 0;
      for (Map.Entry<String, Lines> each : byAddress.entrySet()) {
        if (each.getValue().left > mostLeft) {
          mostLeft = each.getValue().left;
          most = each.getKey();
        }
      }
      rest = new Rest(left, mostLeft, most);
    }
    byAddress.clear();
    open = false;
    written = 0;
    left = 0;
    return rest;
  }

  private void tell(@Nullable Rest rest) {
    if (rest != null) {
      log.warn(
          "{} more lines about connections in {} s are left out, {} of them about {}; there are"
              + " at most {} for an address and {} for all",
          rest.left(),
          WINDOW_SECONDS,
          rest.mostLeft(),
          rest.most(),
          LINES_OF_ADDRESS,
          LINES_OF_ALL);
    }
  }

  /** A peer without its port, which each connection has another of. */
  private static String host(@Nullable SocketAddress address) {
    if (address instanceof InetSocketAddress inet && inet.getAddress() != null) {
      return inet.getAddress().getHostAddress();
    }
    return String.valueOf(address);
  }
}
