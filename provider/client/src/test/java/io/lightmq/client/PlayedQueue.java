package io.lightmq.client;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The queue {@code orders} of a scripted broker. It answers pulls as a real one does: a pull
 * replaces the parked one, which then gets no answer.
 */
final class PlayedQueue {
  private final ScriptedBroker broker;
  private final List<Frame.Deliver> ready = new ArrayList<>();
  private Frame.PullOne parked;

  PlayedQueue(ScriptedBroker broker) {
    this.broker = broker;
    broker.ok(Frame.Return.class);
    broker.on(
        Frame.Acknowledge.class,
        ack -> ack.correlation() == 0 ? List.of() : List.of(new Frame.Ok(ack.correlation())));
    broker.on(Frame.Pull.class, this::answer);
  }

  private synchronized List<Frame> answer(Frame.Pull pull) {
    List<Frame> answers = new ArrayList<>();
    for (Frame.PullOne one : pull.pulls()) {
      parked = null;
      if (!ready.isEmpty()) {
        answers.add(answering(one, ready.remove(0)));
      } else if (one.parkMillis() == 0) {
        answers.add(
            new Frame.PullDone(
                List.of(new Frame.PullEnd(one.consumerId(), one.pullId(), FaultCode.OK, 0))));
      } else {
        parked = one;
      }
    }
    return answers;
  }

  private static Frame answering(Frame.PullOne one, Frame.Deliver what) {
    return new Frame.Deliver(
        one.consumerId(),
        one.pullId(),
        what.count(),
        what.seen(),
        what.references(),
        what.entries());
  }

  /** Gives messages to the parked pull, or to the next one. */
  synchronized void give(long sequence, int earlier, String... texts) {
    Frame.PullOne any = new Frame.PullOne(1, 1, 1, 1, 0);
    give(broker.deliver(any, "orders", sequence, earlier, texts));
  }

  /** As {@link #give}, but the first message's last byte is not what its producer has sent. */
  synchronized void giveDamaged(long sequence, String... texts) {
    Frame.PullOne any = new Frame.PullOne(1, 1, 1, 1, 0);
    Frame.Deliver delivery = broker.deliver(any, "orders", sequence, 0, texts);
    ByteBuffer bytes = delivery.entries().nioBuffer();
    int entry = bytes.position();
    int at = entry + Entry.messageOffset(bytes, entry) + Entry.messageBytes(bytes, entry) - 1;
    bytes.put(at, (byte) (bytes.get(at) ^ 1));
    give(delivery);
  }

  private void give(Frame.Deliver delivery) {
    Frame.PullOne waiting = parked;
    parked = null;
    if (waiting == null) {
      ready.add(delivery);
    } else {
      broker.send(answering(waiting, delivery));
    }
  }

  /** Forgets the parked pull, as with its connection, which the caller cuts now. */
  synchronized void lost() {
    parked = null;
  }

  /** The first sequences of what has been given back. */
  List<Long> returned(boolean attempted) {
    return broker.seen(Frame.Return.class).stream()
        .filter(given -> given.attempted() == attempted)
        .flatMap(given -> given.returned().stream())
        .flatMap(places -> places.ranges().stream())
        .map(range -> range.from())
        .toList();
  }
}
