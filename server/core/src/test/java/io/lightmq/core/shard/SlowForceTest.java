package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.runtime.Loop;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A device whose force takes 50 ms makes those wait who asked for a force, and no one else. */
class SlowForceTest {
  private static final DestinationName HIGH = new DestinationName(DestinationKind.QUEUE, "high");
  private static final DestinationName FAST = new DestinationName(DestinationKind.QUEUE, "fast.q");
  private static final long MILLI = 1_000_000;
  private static final long FORCE = 50 * MILLI;

  private final BrokerHarness h = new BrokerHarness(31);
  private Loop clients;

  @BeforeEach
  void openOnADiskThatIsStillQuick() throws Exception {
    h.settings =
        BrokerHarness.settings(1 << 20); // no file ends meanwhile, which costs a force more
    h.open();
    clients = h.loops.open("clients");
    Sender warm = new Sender(FAST);
    warm.sendAt(0);
    h.loops.advance(MILLI);
    assertThat(warm.answers).hasSize(1);
  }

  @AfterEach
  void close() throws Exception {
    h.disk.beforeForce(name -> {});
    h.close();
  }

  private void theDiskBecomesSlow() {
    h.disk.beforeForce(name -> h.loops.block(FORCE));
  }

  /** A connection that sends to one queue at given times and notes how long each answer took. */
  private final class Sender {
    private final FakePeer peer = h.attach();
    private final long destination;
    private final List<Long> sentNanos = new ArrayList<>();
    private final List<Integer> correlations = new ArrayList<>();
    private final List<Long> answers = new ArrayList<>();
    private long number;

    Sender(DestinationName name) {
      destination = h.producer(peer, name);
      peer.onReceipt =
          receipt -> {
            assertThat(receipt.code()).isEqualTo(FaultCode.OK);
            int which = correlations.indexOf(receipt.correlation());
            answers.add(h.loops.clock().nanos() - sentNanos.get(which));
          };
    }

    Sender sendAt(long nanos) {
      clients.schedule(
          nanos,
          () -> {
            sentNanos.add(h.loops.clock().nanos());
            correlations.add(h.publish(peer, destination, ++number, "m" + number));
          });
      return this;
    }

    void each(long atLeast, long atMost) {
      assertThat(answers).hasSize((int) number).isNotEmpty();
      assertThat(answers).allSatisfy(took -> assertThat(took).isBetween(atLeast, atMost));
    }
  }

  private void afterOneSlowForce() {
    theDiskBecomesSlow();
    new Sender(HIGH).sendAt(0);
    h.loops.advance(10 * FORCE);
  }

  @Test
  void aPerformanceSendBeforeAHighOneReturnsAtOnce() {
    Sender fast = new Sender(FAST);
    Sender high = new Sender(HIGH);
    afterOneSlowForce();
    fast.sendAt(0);
    high.sendAt(MILLI / 5);

    h.loops.advance(10 * FORCE);

    fast.each(0, MILLI);
    high.each(FORCE, 2 * FORCE);
  }

  @Test
  void performanceSendsDuringAHighOnesForceReturnAtOnce() {
    Sender fast = new Sender(FAST);
    Sender high = new Sender(HIGH);
    afterOneSlowForce();
    high.sendAt(0);
    for (int i = 0; i < 49; i++) {
      fast.sendAt(MILLI / 2 + i * MILLI);
    }

    h.loops.advance(10 * FORCE);

    fast.each(0, MILLI);
    high.each(FORCE, FORCE + MILLI);
  }

  @Test
  void bothInOneTurnWaitEachForItsOwn() {
    Sender fast = new Sender(FAST);
    Sender high = new Sender(HIGH);
    afterOneSlowForce();
    high.sendAt(0);
    fast.sendAt(0);
    fast.sendAt(0);
    high.sendAt(0);

    h.loops.advance(10 * FORCE);

    fast.each(0, MILLI);
    high.each(FORCE, 2 * FORCE);
  }

  @Test
  void withManyInFlightPerformanceNeverWaitsAndHighAtMostTwoForces() {
    List<Sender> fast = new ArrayList<>();
    List<Sender> high = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      fast.add(new Sender(FAST));
      high.add(new Sender(HIGH));
    }
    afterOneSlowForce();
    for (int sender = 0; sender < 4; sender++) {
      for (int i = 0; i < 40; i++) {
        fast.get(sender).sendAt(i * 7 * MILLI + sender * MILLI);
        high.get(sender).sendAt(i * 11 * MILLI + sender * MILLI);
      }
    }

    h.loops.advance(30 * FORCE);

    fast.forEach(each -> each.each(0, MILLI));
    high.forEach(each -> each.each(FORCE, 2 * FORCE + MILLI));
  }

  /**
   * While forces are quick the journal loop does them itself, so the first one that is slow is paid
   * by what comes during it; the next is already on the loop of its own.
   */
  @Test
  void theFirstSlowForceAfterQuickOnesDelaysNoPerformanceSend() {
    Sender during = new Sender(FAST);
    Sender behind = new Sender(FAST);
    Sender high = new Sender(HIGH);
    high.sendAt(0);
    h.loops.advance(5 * MILLI);
    theDiskBecomesSlow();
    high.sendAt(0).sendAt(FORCE + MILLI).sendAt(3 * FORCE);
    during.sendAt(MILLI);
    for (int i = 1; i < 40; i++) {
      behind.sendAt(FORCE + 2 * MILLI + i * 5 * MILLI);
    }

    h.loops.advance(20 * FORCE);

    during.each(0, MILLI);
    behind.each(0, MILLI);
    assertThat(high.answers.subList(1, 4)).allMatch(took -> took >= FORCE && took <= 2 * FORCE);
  }
}
