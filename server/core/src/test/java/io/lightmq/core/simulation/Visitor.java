package io.lightmq.core.simulation;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A connection for one look at a queue: it browses, or takes all that is there, and goes. */
final class Visitor implements SimulatedPeer.Listener {
  static final int CONSUMER = 1;

  private final World world;
  private final SimulatedPeer peer;
  private final List<SimulatedPeer.Received> all = new ArrayList<>();
  private int answered;
  private int seen;
  private boolean over;

  /** What is browsed. */
  private @Nullable SimulatedDestination browsed;

  Visitor(World world) {
    this.world = world;
    this.peer = world.newPeer();
    peer.listener = this;
  }

  /** What a browser sees, of which the ledger is told as it comes: a look may take a while. */
  List<SimulatedPeer.Received> browse(SimulatedDestination queue) {
    browsed = queue;
    open(queue.name, Subscribe.BROWSE);
    int messages = 1 + world.random.nextInt(20);
    int bytes = 1 + world.random.nextInt(4_000);
    while (!over) {
      pull(messages, bytes);
    }
    leave();
    return all;
  }

  /** Takes and acknowledges everything. */
  List<SimulatedPeer.Received> takeAll(DestinationName queue) {
    open(queue, Subscribe.QUEUE);
    while (!over) {
      int before = all.size();
      pull(50, 1 << 20);
      for (SimulatedPeer.Received each : all.subList(before, all.size())) {
        Command.Acked acked =
            new Command.Acked(CONSUMER, each.destinationId(), List.of(each.range()));
        world.submit(new Command.Acknowledge(peer, 0, List.of(acked)));
      }
    }
    leave();
    return all;
  }

  private void open(DestinationName queue, Subscribe how) {
    int attach = world.nextCorrelation();
    UUID link = new UUID(7, world.random.nextLong());
    await(attach, new Command.Attach(peer, attach, link, 1, 1, null));
    int open = world.nextCorrelation();
    await(
        open,
        new Command.AttachConsumer(
            peer, open, CONSUMER, 1, queue, how, null, null, false, false, true));
  }

  private void await(int c, Command command) {
    world.submit(command);
    world.until(() -> peer.reply(c) != null || peer.disconnected != null);
    Peer.Reply reply = peer.reply(c);
    if (reply == null || reply instanceof Peer.Reply.Failed) {
      throw new AssertionError(command + " is answered " + reply + ", " + peer.disconnected);
    }
  }

  private void pull(int messages, int bytes) {
    int before = answered;
    world.submit(new Command.Pull(peer, CONSUMER, world.nextCorrelation(), messages, bytes, 0));
    world.until(() -> answered > before);
  }

  private void leave() {
    peer.dead = true;
    world.submit(new Command.Detach(peer, true));
  }

  @Override
  public void received(SimulatedPeer from, List<SimulatedPeer.Received> batch) {
    all.addAll(batch);
    SimulatedDestination queue = browsed;
    if (queue != null) {
      batch.forEach(each -> world.ledger.browsed(queue, each));
    }
  }

  @Override
  public void pulled(SimulatedPeer from, int consumerId, int pullId, FaultCode code) {
    answered++;
    over |= all.size() == seen || code != FaultCode.OK;
    seen = all.size();
  }
}
