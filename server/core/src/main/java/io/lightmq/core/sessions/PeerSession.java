package io.lightmq.core.sessions;

import io.lightmq.core.delivery.Consumer;
import io.lightmq.core.delivery.Recipient;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.transaction.Link;
import io.lightmq.wire.entry.DestinationName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One attached connection: its link, its client id, and what ends with it. */
@OwnedBy("shard")
public final class PeerSession {
  /** Commits that may wait for publishes of before; a client has one per session under way. */
  public static final int MAX_WAITING_COMMITS = 1_000;

  /** Closed consumers whose late acknowledgements are still understood. */
  static final int MAX_CLOSED_CONSUMERS = 10_000;

  private final Peer peer;
  private final Recipient recipient;
  private final byte[] user;
  private final Map<DestinationName, Destination> temporaries = new HashMap<>();
  private final NavigableMap<Long, WaitingCommit> waitingCommits = new TreeMap<>();
  private final ArrayDeque<Held> heldPublishes = new ArrayDeque<>();
  private final LinkedHashMap<Integer, Closed> closedConsumers = new LinkedHashMap<>();

  /** What a closed consumer consumed, by numbers: what is deleted is not kept for it. */
  private record Closed(long destinationId, long subscriptionId) {}

  private long namedBytes;
  private long chargedBytes;
  private @Nullable Link link;
  private long linkEpoch;
  private @Nullable String clientId;
  private @Nullable Sender lastSender;
  private boolean numbersTemporaries;

  /** Sessions that tell what they hand to their applications. */
  private final Set<Integer> tellers = new HashSet<>();

  /** Sessions that hand messages over before they acknowledge them, and tell so. */
  Set<Integer> tellers() {
    return tellers;
  }

  /** A session tells what it has begun. */
  void begun(Command.Begun command) {
    tellers.add(command.sessionId());
    if (command.alone()) {
      for (Consumer consumer : recipient.consumers()) {
        if (consumer.sessionId() == command.sessionId()) {
          consumer.holding().beginAnew();
        }
      }
    }
    for (Command.Acked each : command.messages()) {
      Consumer consumer = recipient.consumer(each.consumerId());
      if (consumer != null && consumer.sessionId() == command.sessionId()) {
        consumer.holding().begin(each.ranges());
      }
    }
  }

  /** A publish that waits, and since when. */
  public record Held(Command.Publish publish, long sinceNanos) {}

  public PeerSession(Peer peer, Recipient recipient) {
    this.peer = peer;
    this.recipient = recipient;
    this.user = peer.userName().getBytes(StandardCharsets.UTF_8);
  }

  public Peer peer() {
    return peer;
  }

  /** The connection as delivery knows it. */
  Recipient recipient() {
    return recipient;
  }

  /** The user name that entries are stamped with, in UTF-8. */
  public byte[] user() {
    return user;
  }

  /** The link, or null before the attach. */
  public @Nullable Link link() {
    return link;
  }

  void attached(Link attachedLink, long epoch) {
    link = attachedLink;
    linkEpoch = epoch;
  }

  /** Whether a newer connection of the same link has come. */
  public boolean fenced() {
    return link != null && linkEpoch != link.epoch();
  }

  /** As whom it sent last; null if it never did. */
  @Nullable Sender lastSender() {
    return lastSender;
  }

  void lastSender(Sender sender) {
    lastSender = sender;
  }

  @Nullable String clientId() {
    return clientId;
  }

  void clientId(String id) {
    clientId = id;
  }

  /** The link's id; only of one that is attached. */
  UUID linkId() {
    if (link == null) {
      throw new IllegalStateException("connection " + peer.connectionId() + " is not attached");
    }
    return link.id();
  }

  /** Whether its temporary destinations have numbers, with which its link asks for them again. */
  boolean numbersTemporaries() {
    return numbersTemporaries;
  }

  /** It has given a temporary destination a number. */
  void numberedTemporary() {
    numbersTemporaries = true;
  }

  /** Temporary destinations of this connection. */
  Map<DestinationName, Destination> temporaries() {
    return temporaries;
  }

  /** Commits that overtook publishes of before, or wait for room, by number. */
  public NavigableMap<Long, WaitingCommit> waitingCommits() {
    return waitingCommits;
  }

  /** Publishes that wait for room in memory; bounded by the connection's credit. */
  public ArrayDeque<Held> heldPublishes() {
    return heldPublishes;
  }

  /** The heap that what it made takes, as long as it lasts no longer than this connection. */
  long namedBytes() {
    return namedBytes;
  }

  void namedBytes(long bytes) {
    namedBytes = bytes;
  }

  /** What of that no destination counts. */
  long chargedBytes() {
    return chargedBytes;
  }

  void chargedBytes(long bytes) {
    chargedBytes = bytes;
  }

  /** Remembers what a closed consumer consumed. */
  public void consumerClosed(int consumerId, Subscription subscription) {
    closedConsumers.remove(consumerId);
    closedConsumers.put(consumerId, new Closed(subscription.destination().id(), subscription.id()));
    if (closedConsumers.size() > MAX_CLOSED_CONSUMERS) {
      closedConsumers.remove(closedConsumers.keySet().iterator().next());
    }
  }

  /** So many closed consumers are remembered. */
  public int closedConsumers() {
    return closedConsumers.size();
  }

  /** Forgets the closed consumers of a destination that is gone. */
  void forgetClosed(Destination gone) {
    closedConsumers.values().removeIf(each -> each.destinationId() == gone.id());
  }

  /** What a closed consumer consumed, or null. */
  public @Nullable Subscription closedConsumer(int consumerId, Destinations destinations) {
    Closed closed = closedConsumers.get(consumerId);
    Destination destination = closed == null ? null : destinations.find(closed.destinationId());
    return closed == null || destination == null
        ? null
        : destination.subscription(closed.subscriptionId());
  }
}
