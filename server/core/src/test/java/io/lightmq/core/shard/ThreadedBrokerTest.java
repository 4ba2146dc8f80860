package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.door.Command;
import io.lightmq.core.runtime.ThreadLoops;
import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The broker on threads of its own, opened and closed as its owner does. */
@Timeout(60)
class ThreadedBrokerTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");

  /** A peer that other threads look at. */
  private static final class WaitingPeer extends FakePeer {
    private volatile CountDownLatch done;
    private final List<String> texts = Collections.synchronizedList(new ArrayList<>());
    private volatile long destinationId;

    WaitingPeer(long connectionId, int events) {
      super(connectionId);
      done = new CountDownLatch(events);
    }

    @Override
    public synchronized void reply(int correlation, Reply reply) {
      super.reply(correlation, reply);
      if (reply instanceof Reply.ProducerAttached producer) {
        destinationId = producer.destinationId();
      }
      done.countDown();
    }

    @Override
    public synchronized void receipt(int correlation, FaultCode code, String text) {
      super.receipt(correlation, code, text);
      done.countDown();
    }

    @Override
    public synchronized void deliver(Delivery delivery) {
      super.deliver(delivery);
      received.forEach(each -> texts.add(each.text()));
      done.countDown();
    }

    void expect(int events) {
      done = new CountDownLatch(events);
    }

    void await() throws InterruptedException {
      assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void opensServesClosesAndOpensAgain() throws Exception {
    SimulatedDisk disk = new SimulatedDisk(1);
    BrokerHarness bytes = new BrokerHarness(1);
    for (int round = 1; round <= 2; round++) {
      try (ThreadLoops loops =
          new ThreadLoops(
              (name, cause) -> {
                throw new AssertionError(name, cause);
              })) {
        try (Broker broker = Broker.open(BrokerHarness.settings(64 << 10), disk, loops)) {
          assertThat(broker.epoch()).isEqualTo(round);
          if (round == 1) {
            send(broker, bytes);
          } else {
            receive(broker);
          }
        }
      }
      disk.kill();
    }
  }

  private static void send(Broker broker, BrokerHarness bytes) throws InterruptedException {
    WaitingPeer attaching = new WaitingPeer(1, 2);
    broker.submit(new Command.Attach(attaching, 1, new UUID(1, 1), 1, 1, null));
    broker.submit(new Command.AttachProducer(attaching, 2, QUEUE, true));
    attaching.await();
    attaching.expect(1);
    broker.submit(
        new Command.Publish(
            attaching, 3, attaching.destinationId, 1, 2, bytes.bytes(true, 0, "a", "b")));
    attaching.await();
    assertThat(attaching.receipts.get(0).code()).isEqualTo(FaultCode.OK);
  }

  private static void receive(Broker broker) throws InterruptedException {
    WaitingPeer peer = new WaitingPeer(1, 3);
    broker.submit(new Command.Attach(peer, 1, new UUID(1, 2), 1, 1, null));
    broker.submit(
        new Command.AttachConsumer(
            peer, 2, 1, 1, QUEUE, Command.Subscribe.QUEUE, null, null, false, false, true));
    broker.submit(new Command.Pull(peer, 1, 1, 10, 1 << 20, 5_000));
    peer.await();
    assertThat(peer.texts).containsExactly("a", "b");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whenALoopDiesItsOwnerIsToldAndCanCloseIt(boolean shards) throws Exception {
    BrokerHarness bytes = new BrokerHarness(1);
    FakePeer deadly =
        new FakePeer(77) {
          @Override
          public String userName() {
            if (shards) {
              throw new IllegalStateException("a planted bug");
            }
            return super.userName();
          }

          @Override
          public void reply(int correlation, Reply reply) {
            throw new IllegalStateException("a planted bug");
          }
        };
    try (ThreadLoops loops = new ThreadLoops((name, cause) -> {})) {
      Broker broker = Broker.open(BrokerHarness.settings(64 << 10), bytes.disk, loops);
      broker.submit(new Command.Attach(deadly, 1, new UUID(1, 1), 1, 1, null));
      assertThat(broker.failure().get(30, TimeUnit.SECONDS))
          .hasMessageMatching(shards ? "loop shard died.*" : "loop (journal|force) died.*")
          .hasRootCauseMessage("a planted bug");
      assertThatThrownBy(broker::close)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("a planted bug");
    }
  }

  @Test
  void whenAnotherLoopDiesTheClientsAreTold() throws Exception {
    BrokerHarness bytes = new BrokerHarness(1);
    WaitingPeer peer = new WaitingPeer(78, 1);
    CountDownLatch told = new CountDownLatch(1);
    FakePeer client =
        new FakePeer(79) {
          @Override
          public void disconnect(FaultCode code, String text) {
            told.countDown();
          }
        };
    try (ThreadLoops loops = new ThreadLoops((name, cause) -> {})) {
      Broker broker = Broker.open(BrokerHarness.settings(64 << 10), bytes.disk, loops);
      broker.submit(new Command.Attach(client, 1, new UUID(1, 2), 1, 1, null));
      broker.submit(new Command.Attach(peer, 1, new UUID(1, 1), 1, 1, null));
      peer.await();
      loops
          .open("another")
          .execute(
              () -> {
                throw new IllegalStateException("a planted bug");
              });
      assertThat(told.await(30, TimeUnit.SECONDS)).isTrue();
      assertThatThrownBy(broker::close).isInstanceOf(IOException.class);
    }
  }
}
