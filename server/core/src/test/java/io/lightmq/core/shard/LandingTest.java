package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Figure;
import io.lightmq.core.intake.Landing;
import io.lightmq.core.intake.Parcel;
import io.lightmq.core.intake.Plan;
import io.lightmq.core.sessions.Sender;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.core.state.Runs;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A bug of the broker's in what comes through the one door, for each who brings messages: while it
 * is planned it is a refusal, and the same message lands later; once it is carried out it ends the
 * shard.
 */
class LandingTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final DestinationName DLQ = new DestinationName(DestinationKind.QUEUE, "DLQ");

  /** Of a rule with three attempts. */
  private static final DestinationName POISON =
      new DestinationName(DestinationKind.QUEUE, "poison.a");

  /** Who brings messages. */
  enum Caller {
    RUN,
    COMMIT,
    DELAYED_RUN,
    MOVE,
    RETRY
  }

  /** A door with a bug. */
  private final class Buggy extends Landing {
    Buggy(Parts parts) {
      super(parts);
    }

    @Override
    public Planned plan(
        UUID link, long of, Sender sender, Destination to, Runs.Checked sent, Runs.Checked wanted) {
      fail(planning);
      return super.plan(link, of, sender, to, sent, wanted);
    }

    @Override
    public Planned plan(
        @Nullable UUID link, long of, List<Parcel> parcels, Acknowledging acknowledging) {
      Planned planned = super.plan(link, of, parcels, acknowledging);
      fail(planning);
      return planned;
    }

    @Override
    public @Nullable Mark carryOut(Plan plan) {
      Mark awaited = super.carryOut(plan);
      fail(carryingOut);
      return awaited;
    }

    private void fail(boolean now) {
      if (now) {
        throw new ArithmeticException("planted");
      }
    }
  }

  private final BrokerHarness h = new BrokerHarness(5);
  private boolean planning;
  private boolean carryingOut;
  private FakePeer peer;
  private FakePeer reader;
  private long queue;
  private long poison;
  private long number;

  private void open() throws IOException {
    h.landings(Buggy::new);
    h.open();
    peer = h.attach();
    queue = h.producer(peer, QUEUE);
    poison = h.producer(peer, POISON);
    reader = h.attach();
    h.consumer(reader, 1, POISON, Subscribe.QUEUE, null);
  }

  /** What comes before the caller has something to bring. */
  private void prepare(Caller caller) {
    if (caller == Caller.MOVE || caller == Caller.RETRY) {
      assertThat(h.receipt(peer, h.publish(peer, poison, ++number, "bad"))).isEqualTo(FaultCode.OK);
      giveUp(2);
    }
    if (caller == Caller.RETRY) {
      giveUp(1);
    }
  }

  private void giveUp(int attempts) {
    for (int i = 0; i < attempts; i++) {
      Received bad = h.pull(reader, 1, 1).get(0);
      h.broker.submit(
          new Command.Return(
              reader, 0, List.of(new Command.Acked(1, poison, List.of(bad.range()))), true, null));
      h.loops.runUntilIdle();
    }
  }

  /** Brings a message; returns what it was told. */
  private String bring(Caller caller) {
    int c = h.nextCorrelation();
    switch (caller) {
      case RUN -> {
        return receipt(h.publish(peer, queue, ++number, "x"));
      }
      case COMMIT -> {
        var run = new Command.StagedRun(queue, true, 1, h.bytes(true, 0, "x"));
        h.broker.submit(new Command.Commit(peer, c, 1, ++number, List.of(run), List.of()));
        return receipt(c);
      }
      case DELAYED_RUN -> {
        h.broker.submit(
            new Command.Publish(peer, c, queue, ++number, 1, h.bytes(true, 0, 1_000, "x")));
        return receipt(c);
      }
      case MOVE -> giveUp(1);
      case RETRY -> h.admin("dead-letters.retry", Map.of());
    }
    h.loops.advance(1_500_000_000L);
    return "";
  }

  private String receipt(int c) {
    h.receipt(peer, c);
    return BrokerHarness.find(peer, c).toString();
  }

  @ParameterizedTest
  @EnumSource
  void aBugWhileItIsPlannedIsARefusalAndWhatComesLaterLands(Caller caller) throws Exception {
    open();
    prepare(caller);
    planning = true;
    String told = bring(caller);
    assertThat(h.broker.failure()).isNotDone();
    switch (caller) {
      case MOVE -> assertThat(failures()).isEqualTo(1);
      case RETRY -> assertThat(h.admin("dead-letters.list", Map.of())).contains("changed nothing");
      default -> assertThat(told).contains("BAD_REQUEST", "changed nothing");
    }
    planning = false;
    if (caller != Caller.MOVE && caller != Caller.RETRY) {
      assertThat(bring(caller)).contains("OK");
    }
    h.loops.advance(60_000_000_000L);
    DestinationName to =
        switch (caller) {
          case MOVE -> DLQ;
          case RETRY -> POISON;
          default -> QUEUE;
        };
    FakePeer last = h.attach();
    h.consumer(last, 1, to, Subscribe.QUEUE, null);
    assertThat(h.pull(last, 1, 10)).hasSize(1);
    h.close();
  }

  private long failures() {
    return h.broker.metrics().of(Figure.FAILED_MOVES);
  }

  @ParameterizedTest
  @EnumSource
  void aBugWhileItIsCarriedOutEndsTheShard(Caller caller) throws Exception {
    open();
    prepare(caller);
    carryingOut = true;
    assertThatThrownBy(() -> bring(caller)).isInstanceOf(ArithmeticException.class);
    assertThat(peer.receipts).noneMatch(each -> each.text().contains("planted"));
  }
}
