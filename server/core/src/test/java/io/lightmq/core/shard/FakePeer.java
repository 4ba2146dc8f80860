package io.lightmq.core.shard;

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
import java.util.function.Consumer;

/** A connection in memory that keeps what it is told. */
class FakePeer implements Peer {
  /** One delivered message. */
  record Received(
      int consumerId, long destinationId, int lane, long sequence, int deliveries, String text) {
    SequenceRange range() {
      return new SequenceRange(lane, sequence, 1);
    }
  }

  /** An answer to a run or commit. */
  record Receipt(int correlation, FaultCode code, String text) {}

  final long connectionId;
  String user = "ada";
  boolean manages;
  final List<Receipt> receipts = new ArrayList<>();
  final Map<Integer, Reply> replies = new HashMap<>();
  final List<Received> received = new ArrayList<>();

  /** The properties of what was received, in the same order. */
  final List<Map<String, Object>> properties = new ArrayList<>();

  final List<String> pullsDone = new ArrayList<>();

  /** The pull that each consumer's last delivery answers. */
  final Map<Integer, Integer> pullsServed = new HashMap<>();

  final List<String> disconnects = new ArrayList<>();
  Consumer<Received> onReceived = message -> {};
  Consumer<Receipt> onReceipt = receipt -> {};
  long credit;
  int carriedOut;
  final List<List<Command.Acked>> letGo = new ArrayList<>();
  int openBuffers;
  boolean writable = true;
  boolean dead;

  FakePeer(long connectionId) {
    this.connectionId = connectionId;
  }

  @Override
  public long connectionId() {
    return connectionId;
  }

  @Override
  public boolean manages() {
    return manages;
  }

  @Override
  public String address() {
    return "10.0.0.1:" + connectionId;
  }

  @Override
  public String userName() {
    return user;
  }

  @Override
  public void receipt(int correlation, FaultCode code, String text) {
    Receipt receipt = new Receipt(correlation, code, text);
    receipts.add(receipt);
    onReceipt.accept(receipt);
  }

  @Override
  public void reply(int correlation, Reply reply) {
    if (replies.put(correlation, reply) != null) {
      throw new AssertionError("request " + correlation + " is answered twice");
    }
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
    int at = 0;
    List<Received> all = new ArrayList<>();
    for (int i = 0; i < delivery.count(); i++) {
      int length = Entry.check(entries, at, delivery.length());
      int deliveries = 0;
      for (Seen seen : delivery.seen()) {
        if (i >= seen.index() && i < seen.index() + seen.count()) {
          deliveries = seen.deliveries();
        }
      }
      properties.add(new HashMap<>(MessageReader.ofEntry(entries, at).properties()));
      String text = MessageReader.ofEntry(entries, at).textBody();
      all.add(
          new Received(
              delivery.consumerId(),
              Entry.destinationId(entries, at),
              Entry.lane(entries, at),
              sequenceOf(Entry.sequence(entries, at)),
              deliveries,
              text == null ? "" : text));
      at += length;
    }
    if (at != delivery.length()) {
      throw new AssertionError(
          "a delivery of " + delivery.length() + " bytes has entries of " + at);
    }
    delivery.entries().release();
    pullsServed.put(delivery.consumerId(), delivery.pullId());
    for (Received each : all) {
      received.add(each);
      onReceived.accept(each);
    }
  }

  /** The sequence that the client believes to see. */
  long sequenceOf(long stored) {
    return stored;
  }

  @Override
  public void pullDone(int consumerId, int pullId, FaultCode code, int retryAfterMillis) {
    pullsDone.add(consumerId + "/" + pullId + "/" + code);
  }

  @Override
  public void credit(long bytes) {
    credit += bytes;
  }

  @Override
  public void carriedOut() {
    carriedOut++;
  }

  @Override
  public void letGo(List<Command.Acked> named) {
    letGo.add(named);
  }

  @Override
  public void disconnect(FaultCode code, String text) {
    disconnects.add(code + ": " + text);
  }
}
