package io.lightmq.client;

import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.ClientUri;
import io.lightmq.client.message.Messages;
import io.lightmq.wire.Frame;
import jakarta.jms.JMSException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;

/** One received message that is settled on one thread while another one loses the link. */
final class Races {
  private final ScriptedBroker broker;
  private final ClientSettings settings = ClientSettings.of(ClientUri.parse("lightmq://127.0.0.1"));
  private final JmsDestinations destinations = new JmsDestinations();
  private final Messages messages = new Messages(settings.trust(), destinations, settings.jmsx());
  private final AtomicInteger places = new AtomicInteger();
  private final BrokerLink link =
      (BrokerLink)
          Proxy.newProxyInstance(
              BrokerLink.class.getClassLoader(),
              new Class<?>[] {BrokerLink.class},
              (proxy, method, arguments) -> called(method.getName(), method, arguments));
  private long sequence;

  Races(ScriptedBroker broker) {
    this.broker = broker;
  }

  private Object called(String name, java.lang.reflect.Method method, Object[] arguments) {
    if (name.equals("commit") || name.equals("acknowledgeSurely")) {
      List<?> acked = (List<?>) arguments[name.equals("commit") ? 2 : 0];
      places.addAndGet(acked.size());
    }
    if (name.equals("limits")) {
      return new BrokerLink.Limits(1 << 20, 1 << 20, false);
    }
    return method.getReturnType() == CompletableFuture.class
        ? CompletableFuture.completedFuture(null)
        : null;
  }

  private record Settled(Inbox inbox, Settling settling, Arrived place) {}

  private Settled received(AckMode mode) throws JMSException {
    places.set(0);
    Refusals refusals = new Refusals(new PassingLimit());
    Inbox inbox = new Inbox(mode, link, 1, messages, settings, new NoSession(), refusals);
    ConsumerQueue queue = new ConsumerQueue(1, inbox, mode, link, settings, over -> {});
    inbox.add(queue);
    inbox.start();
    sequence++;
    Frame.PullOne pull = new Frame.PullOne(1, 0, 1, 1, 0);
    inbox.delivered(broker.deliver(pull, "orders", sequence, 0, "a"), queue);
    inbox.receive(queue, Gate.NO_WAIT, message -> message);
    CurrentUnit units = CurrentUnit.local(link, 1, inbox);
    Arrived place =
        new Arrived(queue, 0, broker.idOf("orders"), 4, sequence, 1, new byte[0]).placeOnly();
    return new Settled(inbox, new Settling(mode, link, 1, inbox, units, refusals), place);
  }

  private boolean race(Settled settled, Unchecked.Action settle) throws Exception {
    CyclicBarrier barrier = new CyclicBarrier(2);
    CompletableFuture<Void> loss =
        CompletableFuture.runAsync(
            () -> {
              meet(barrier);
              settled.inbox().lost();
            });
    meet(barrier);
    boolean succeeded = true;
    try {
      settle.run();
    } catch (JMSException e) {
      succeeded = false;
    }
    SettlingTest.got(loss);
    return !succeeded || places.get() == 1;
  }

  private static void meet(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Settles a message that the session's close has given back a moment before. */
  void settleWhatTheCloseHasGivenBack(AckMode mode) throws JMSException {
    Settled settled = received(mode);
    settled.inbox().unsettled().giveBackLast(true);
    switch (mode) {
      case TRANSACTED -> settled.settling().commit();
      case INDIVIDUAL -> settled.settling().acknowledge(settled.place());
      default -> settled.settling().acknowledge();
    }
  }

  /** Whether the commit failed or had its acknowledgement. */
  boolean commitWhileTheLinkIsLost() throws Exception {
    Settled settled = received(AckMode.TRANSACTED);
    return race(settled, settled.settling()::commit);
  }

  /** Whether the acknowledgement failed or was sent. */
  boolean acknowledgeOneWhileTheLinkIsLost() throws Exception {
    Settled settled = received(AckMode.INDIVIDUAL);
    return race(settled, () -> settled.settling().acknowledge(settled.place()));
  }
}
