package io.lightmq.client.link;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What there is to tell of a link: its phase, and the newest loss with its cause and its length.
 * Written on the link's loop, read on any thread.
 */
final class Story {
  private final Clock clock;
  private final LongSupplier nanos;
  private volatile Chapter now;

  /** One phase; the length of an outage goes by the clock that no one sets. */
  private record Chapter(
      LinkStatus.Phase phase,
      Instant since,
      String broker,
      int attempts,
      @Nullable LinkException cause,
      int reconnects,
      long lostNanos,
      long outageNanos) {}

  Story() {
    this(Clock.systemUTC(), System::nanoTime);
  }

  Story(Clock clock, LongSupplier nanos) {
    this.clock = clock;
    this.nanos = nanos;
    this.now =
        new Chapter(LinkStatus.Phase.CONNECTING, clock.instant(), "none yet", 0, null, 0, 0, 0);
  }

  /** There is a connection on which all is open. */
  void connected(String broker) {
    Chapter before = now;
    boolean again = before.phase() == LinkStatus.Phase.LOST;
    now =
        new Chapter(
            LinkStatus.Phase.OPEN,
            clock.instant(),
            broker,
            before.attempts(),
            before.cause(),
            before.reconnects() + (again ? 1 : 0),
            0,
            again ? nanos.getAsLong() - before.lostNanos() : before.outageNanos());
  }

  /** The connection is lost. */
  void lost(LinkException cause) {
    Chapter before = now;
    now =
        new Chapter(
            LinkStatus.Phase.LOST,
            clock.instant(),
            before.broker(),
            0,
            cause,
            before.reconnects(),
            nanos.getAsLong(),
            0);
  }

  /** One more attempt to connect again begins. */
  void attempt() {
    Chapter before = now;
    now =
        new Chapter(
            before.phase(),
            before.since(),
            before.broker(),
            before.attempts() + 1,
            before.cause(),
            before.reconnects(),
            before.lostNanos(),
            before.outageNanos());
  }

  /** The link has ended, for this cause; null if it was closed. */
  void ended(@Nullable LinkException cause) {
    Chapter before = now;
    now =
        new Chapter(
            LinkStatus.Phase.ENDED,
            clock.instant(),
            before.broker(),
            before.attempts(),
            cause == null ? before.cause() : cause,
            before.reconnects(),
            0,
            outage(before));
  }

  private long outage(Chapter chapter) {
    return chapter.phase() == LinkStatus.Phase.LOST
        ? nanos.getAsLong() - chapter.lostNanos()
        : chapter.outageNanos();
  }

  LinkStatus status() {
    Chapter read = now;
    return new LinkStatus(
        read.phase(),
        read.since(),
        read.broker(),
        read.attempts(),
        read.cause(),
        read.reconnects(),
        Duration.ofNanos(outage(read)));
  }
}
