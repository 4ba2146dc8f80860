package io.lightmq.core.sessions;

import io.lightmq.core.delivery.Outlet;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.entry.FaultCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A peer as delivery sees it. */
final class PeerOutlet implements Outlet {
  private final Peer peer;

  PeerOutlet(Peer peer) {
    this.peer = peer;
  }

  @Override
  public long connectionId() {
    return peer.connectionId();
  }

  @Override
  public boolean writable() {
    return peer.writable();
  }

  @Override
  public Buffer allocate(int bytes) {
    return new PeerBuffer(peer.allocate(bytes));
  }

  @Override
  public void deliver(Batch batch) {
    List<Peer.Seen> seen = new ArrayList<>(batch.seen().size());
    for (Seen each : batch.seen()) {
      seen.add(new Peer.Seen(each.index(), each.count(), each.deliveries()));
    }
    peer.deliver(
        new Peer.Delivery(
            batch.consumerId(),
            batch.pullId(),
            batch.count(),
            seen,
            ((PeerBuffer) batch.entries()).buffer(),
            batch.length()));
  }

  @Override
  public void pullDone(int consumerId, int pullId, FaultCode code, int retryAfterMillis) {
    peer.pullDone(consumerId, pullId, code, retryAfterMillis);
  }

  private record PeerBuffer(Peer.OutBuffer buffer) implements Buffer {
    @Override
    public ByteBuffer bytes() {
      return buffer.bytes();
    }

    @Override
    public void release() {
      buffer.release();
    }
  }
}
