package io.lightmq.core.simulation;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.SequenceRange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A connection in memory, which tells one listener what comes on it. */
class SimulatedPeer implements Peer {
  /** One delivered message. */
  record Received(
      int consumerId,
      long destinationId,
      int lane,
      long sequence,
      int deliveries,
      String text,
      Map<String, @Nullable Object> properties) {
    SequenceRange range() {
      return new SequenceRange(lane, sequence, 1);
    }

    @Override
    public String toString() {
      return "%s at %d/%d/%x to consumer %d%s"
          .formatted(
              text.indexOf('-') < 0 ? text : text.substring(0, text.indexOf('-')),
              destinationId,
              lane,
              sequence,
              consumerId,
              deliveries == 0 ? "" : ", delivered " + deliveries + " times before");
    }
  }

  /** Who has the connection. */
  interface Listener {
    /** Messages came together. */
    default void received(SimulatedPeer from, List<Received> batch) {}

    /** A pull is over. */
    default void pulled(SimulatedPeer from, int consumerId, int pullId, FaultCode code) {}

    /** A run or commit is answered. */
    default void receipt(SimulatedPeer from, int correlation, FaultCode code, String text) {}

    /** Any other request is answered. */
    default void replied(SimulatedPeer from, int correlation, Reply reply) {}
  }

  private final long connectionId;
  private final Map<Integer, Reply> replies = new HashMap<>();
  Listener listener = new Listener() {};
  boolean writable = true;

  /** The client does not look at it any more. */
  boolean dead;

  int openBuffers;
  @Nullable String disconnected;

  SimulatedPeer(long connectionId) {
    this.connectionId = connectionId;
  }

  /** The answer to a request, once it has come. */
  @Nullable Reply reply(int correlation) {
    return replies.get(correlation);
  }

  // ---- what planted bugs change ----

  /** The sequence that the client believes to see. */
  long sequenceOf(long stored) {
    return stored;
  }

  /** How often the client believes that a message was delivered before. */
  int deliveriesOf(int told) {
    return told;
  }

  /** The properties that the client reads. */
  Map<String, @Nullable Object> propertiesOf(Map<String, @Nullable Object> told) {
    return told;
  }

  /** The order in which the client sees what comes together. */
  List<Received> order(List<Received> batch) {
    return batch;
  }

  // ---- the broker's side ----

  @Override
  public long connectionId() {
    return connectionId;
  }

  @Override
  public String userName() {
    return "ada";
  }

  @Override
  public boolean manages() {
    return false;
  }

  @Override
  public String address() {
    return "10.0.0.1:" + connectionId;
  }

  @Override
  public void receipt(int correlation, FaultCode code, String text) {
    listener.receipt(this, correlation, code, text);
  }

  @Override
  public void reply(int correlation, Reply reply) {
    if (replies.put(correlation, reply) != null) {
      throw new AssertionError("request " + correlation + " is answered twice");
    }
    listener.replied(this, correlation, reply);
  }

  @Override
  public boolean writable() {
    return writable;
  }

  @Override
  public OutBuffer allocate(int bytes) {
    openBuffers++;
    ByteBuffer buffer = ByteBuffer.allocate(bytes);
    return new OutBuffer() {
      @Override
      public ByteBuffer bytes() {
        return buffer;
      }

      @Override
      public void release() {
        openBuffers--;
      }
    };
  }

  @Override
  public void deliver(Delivery delivery) {
    ByteBuffer entries = delivery.entries().bytes().duplicate().clear();
    List<Received> batch = new ArrayList<>(delivery.count());
    int at = 0;
    for (int i = 0; i < delivery.count(); i++) {
      int length = Entry.check(entries, at, delivery.length());
      MessageReader message = MessageReader.ofEntry(entries, at);
      String text = message.textBody();
      batch.add(
          new Received(
              delivery.consumerId(),
              Entry.destinationId(entries, at),
              Entry.lane(entries, at),
              sequenceOf(Entry.sequence(entries, at)),
              deliveriesOf(deliveries(delivery, i)),
              text == null ? "" : text,
              propertiesOf(message.properties())));
      at += length;
    }
    if (at != delivery.length()) {
      throw new AssertionError(
          "a delivery of " + delivery.length() + " bytes has entries of " + at);
    }
    delivery.entries().release();
    listener.received(this, order(batch));
    listener.pulled(this, delivery.consumerId(), delivery.pullId(), FaultCode.OK);
  }

  private static int deliveries(Delivery delivery, int index) {
    for (Seen seen : delivery.seen()) {
      if (index >= seen.index() && index < seen.index() + seen.count()) {
        return seen.deliveries();
      }
    }
    return 0;
  }

  @Override
  public void pullDone(int consumerId, int pullId, FaultCode code, int retryAfterMillis) {
    listener.pulled(this, consumerId, pullId, code);
  }

  @Override
  public void credit(long bytes) {}

  @Override
  public void carriedOut() {}

  @Override
  public void letGo(List<Command.Acked> named) {}

  @Override
  public void disconnect(FaultCode code, String text) {
    if (disconnected == null) {
      disconnected = code + ": " + text;
    }
  }
}
