package io.lightmq.node.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

class PeerLogTest {
  private final Recording log = new Recording();
  private long now = 5;
  private final PeerLog peers = new PeerLog(log, () -> now);

  /** Writes lines down, and whether a lock was held while one was written. */
  static final class Recording extends LegacyAbstractLogger {
    private static final long serialVersionUID = 1L;

    final transient List<String> lines = new ArrayList<>();
    transient Throwable thrown;
    transient Object watched;
    boolean locked;
    boolean debug;

    @Override
    protected String getFullyQualifiedCallerName() {
      return "";
    }

    @Override
    protected void handleNormalizedLoggingCall(
        Level level, Marker marker, String format, Object[] arguments, Throwable throwable) {
      locked |= watched != null && Thread.holdsLock(watched);
      lines.add(level + " " + MessageFormatter.arrayFormat(format, arguments).getMessage());
      thrown = throwable;
    }

    @Override
    public boolean isTraceEnabled() {
      return false;
    }

    @Override
    public boolean isDebugEnabled() {
      return debug;
    }

    @Override
    public boolean isInfoEnabled() {
      return true;
    }

    @Override
    public boolean isWarnEnabled() {
      return true;
    }

    @Override
    public boolean isErrorEnabled() {
      return true;
    }
  }

  private static EmbeddedChannel from(String host, int port) {
    return new EmbeddedChannel() {
      @Override
      protected SocketAddress remoteAddress0() {
        return new InetSocketAddress(host, port);
      }
    };
  }

  private void pass(EmbeddedChannel channel, int seconds) {
    now += TimeUnit.SECONDS.toNanos(seconds);
    channel.advanceTimeBy(seconds, TimeUnit.SECONDS);
    channel.runScheduledPendingTasks();
  }

  @Test
  void anAddressHasTenLinesAndTheNumberOfTheRestWhicheverPortItComesFrom() {
    EmbeddedChannel first = from("203.0.113.9", 4_000);
    for (int i = 0; i < 23_000; i++) {
      EmbeddedChannel peer = i < 20 ? first : from("203.0.113.9", 4_000 + i % 7);
      peers.write(Level.INFO, peer, "Closing {}: {}", i, "no");
    }
    assertThat(log.lines)
        .hasSize(10)
        .startsWith("INFO Closing 0: no")
        .endsWith("INFO Closing 9: no");
    pass(first, 10);
    assertThat(log.lines)
        .hasSize(11)
        .last()
        .asString()
        .startsWith("WARN 22990 more lines about connections in 10 s are left out, 22990 of them")
        .contains("203.0.113.9");
    peers.write(Level.INFO, first, "again");
    assertThat(log.lines).last().isEqualTo("INFO again");
  }

  @Test
  void allTogetherHaveAHundredLines() {
    EmbeddedChannel last = from("198.51.100.1", 1);
    for (int i = 0; i < 5_000; i++) {
      peers.write(Level.INFO, from("10.0." + i / 250 + "." + i % 250, 99), "Closing {}", i);
    }
    assertThat(log.lines).hasSize(100);
    now += TimeUnit.SECONDS.toNanos(10);
    peers.write(Level.INFO, last, "later");
    assertThat(log.lines)
        .hasSize(102)
        .element(100)
        .asString()
        .startsWith("WARN 4900 more lines")
        .contains("about other addresses");
  }

  @Test
  void aPeerThatSaysLittleIsHeardBesideOneThatSaysMuch() {
    EmbeddedChannel loud = from("203.0.113.9", 1);
    for (int i = 0; i < 1_000; i++) {
      peers.write(Level.INFO, loud, "loud");
    }
    peers.write(Level.WARN, from("192.0.2.1", 1), "quiet");
    assertThat(log.lines).last().isEqualTo("WARN quiet");
  }

  @Test
  void aStackTraceGoesWithItsLineAndIsCountedLikeIt() {
    EmbeddedChannel peer = from("203.0.113.9", 1);
    IllegalStateException cause = new IllegalStateException("no");
    for (int i = 0; i < 100; i++) {
      peers.write(Level.ERROR, peer, "Closing {} after an unexpected error", 7, cause);
    }
    assertThat(log.lines).hasSize(10).contains("ERROR Closing 7 after an unexpected error");
    assertThat(log.thrown).isSameAs(cause);
  }

  @Test
  void nothingIsToldOfATimeInWhichNothingWasLeftOut() {
    EmbeddedChannel peer = from("203.0.113.9", 1);
    peers.write(Level.INFO, peer, "one");
    pass(peer, 60);
    peers.write(Level.INFO, peer, "two");
    assertThat(log.lines).containsExactly("INFO one", "INFO two");
  }

  /** A log that blocks must not block all other connections. */
  @Test
  void noLineIsWrittenUnderTheLock() {
    log.watched = peers;
    EmbeddedChannel peer = from("203.0.113.9", 1);
    for (int window = 0; window < 2; window++) {
      for (int i = 0; i < 20; i++) {
        peers.write(Level.INFO, peer, "line");
      }
      now += TimeUnit.SECONDS.toNanos(10);
    }
    pass(peer, 10);
    assertThat(log.lines).filteredOn(line -> line.startsWith("WARN 10 more")).hasSize(2);
    assertThat(log.locked).isFalse();
  }

  @Test
  void whoAsksForDebugLinesGetsAllOthersToo() {
    log.debug = true;
    for (int i = 0; i < 300; i++) {
      peers.write(Level.INFO, from("203.0.113.9", 1), "line");
    }
    assertThat(log.lines).hasSize(300);
  }
}
