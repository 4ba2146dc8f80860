package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A delay and a time to live count from the moment at which the message arrives, not from the
 * beginning of the turn that takes it (Jakarta Messaging 3.1, sections 3.4.13 and 7.9).
 */
class NeverEarlyTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "later");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "news");
  private static final long MILLI = 1_000_000L;

  /** What is sent how. */
  enum Way {
    PERSISTENT,
    NON_PERSISTENT,
    TOPIC_DURABLE,
    TOPIC_PLAIN,
    COMMIT
  }

  /** A broker in which the application of a client sends while a turn runs. */
  private static final class Bench {
    final BrokerHarness h;
    final FakePeer peer;
    final FakePeer reader;
    final long id;
    final long filler;
    final Way way;
    final Map<String, Long> sentNanos = new HashMap<>();
    final Map<String, Long> receivedNanos = new HashMap<>();
    long number;

    Bench(long seed, Way way) throws IOException {
      this.way = way;
      this.h = new BrokerHarness(seed).open();
      this.peer = h.attach();
      this.filler = h.producer(peer, new DestinationName(DestinationKind.QUEUE, "filler"));
      boolean topic = way == Way.TOPIC_DURABLE || way == Way.TOPIC_PLAIN;
      this.id = h.producer(peer, topic ? TOPIC : QUEUE);
      this.reader = h.attach(new java.util.UUID(seed, 77), 1, 1, "reader");
      h.consumer(
          reader,
          1,
          topic ? TOPIC : QUEUE,
          way == Way.TOPIC_DURABLE
              ? Subscribe.DURABLE
              : way == Way.TOPIC_PLAIN ? Subscribe.PLAIN : Subscribe.QUEUE,
          way == Way.TOPIC_DURABLE ? "all" : null);
      reader.onReceived = each -> receivedNanos.put(each.text(), now());
    }

    long now() {
      return h.loops.clock().nanos();
    }

    /** Sends while a turn of the shard has gone on for so long already. */
    void sendInALongTurn(long turnNanos, Runnable send) {
      Command.Bytes plain = h.bytes(false, 0, "filler");
      Command.Bytes slow =
          new Command.Bytes() {
            @Override
            public java.nio.ByteBuffer buffer() {
              return plain.buffer();
            }

            @Override
            public void release() {
              plain.release();
              h.loops.simulatedClock().advance(turnNanos);
              send.run();
            }
          };
      h.broker.submit(new Command.Publish(peer, h.nextCorrelation(), filler, 0, 1, slow));
    }

    void send(String text, long delayMillis, long timeToLive) {
      sentNanos.put(text, now());
      boolean persistent = way != Way.NON_PERSISTENT;
      Command.Bytes bytes = h.bytes(persistent, timeToLive, delayMillis, text);
      if (way == Way.COMMIT) {
        h.broker.submit(
            new Command.Commit(
                peer,
                h.nextCorrelation(),
                1,
                ++number,
                List.of(new Command.StagedRun(id, true, 1, bytes)),
                List.of()));
      } else {
        h.broker.submit(
            new Command.Publish(
                peer, h.nextCorrelation(), id, persistent ? ++number : 0, 1, bytes));
      }
    }

    void pull(int messages, long parkMillis) {
      h.broker.submit(
          new Command.Pull(reader, 1, h.nextCorrelation(), messages, 1 << 20, (int) parkMillis));
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void aDelayIsNotOverBeforeItsTimeHoweverLongTheTurnIs(Way way) throws Exception {
    Bench bench = new Bench(1, way);
    bench.pull(1, 60_000);
    bench.sendInALongTurn(300 * MILLI, () -> bench.send("late", 1_500, 0));
    bench.h.loops.advance(10_000 * MILLI);
    assertThat(bench.receivedNanos).containsKey("late");
    assertThat(bench.receivedNanos.get("late") - bench.sentNanos.get("late"))
        .isBetween(1_500 * MILLI, 1_600 * MILLI);
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void aTimeToLiveIsNotOverBeforeItsTimeHoweverLongTheTurnIs(Way way) throws Exception {
    Bench bench = new Bench(1, way);
    bench.pull(1, 60_000);
    bench.sendInALongTurn(300 * MILLI, () -> bench.send("short", 0, 200));
    bench.h.loops.advance(199 * MILLI);
    assertThat(bench.receivedNanos).containsKey("short");
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void nothingIsEarlyWhateverTurnsTake(Way way) throws Exception {
    Random random = new Random(way.ordinal());
    Bench bench = new Bench(2, way);
    Map<String, Long> delays = new HashMap<>();
    for (int i = 0; i < 200; i++) {
      String text = "m" + i;
      long delay = random.nextInt(400);
      delays.put(text, delay);
      long turn = random.nextInt(50_000) * 1_000L + random.nextInt(1_000);
      bench.sendInALongTurn(turn, () -> bench.send(text, delay, 0));
      bench.pull(random.nextInt(20) + 1, 100);
      bench.h.loops.advance(random.nextInt(20) * MILLI + random.nextInt(1_000_000));
    }
    for (int i = 0; i < 400 && bench.receivedNanos.size() < delays.size(); i++) {
      bench.pull(20, 100);
      bench.h.loops.advance(10 * MILLI);
    }
    assertThat(bench.receivedNanos).hasSameSizeAs(delays);
    delays.forEach(
        (text, delay) ->
            assertThat(bench.receivedNanos.get(text) - bench.sentNanos.get(text))
                .as(text)
                .isGreaterThanOrEqualTo(delay * MILLI));
  }
}
