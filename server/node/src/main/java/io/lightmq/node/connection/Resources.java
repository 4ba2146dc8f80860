package io.lightmq.node.connection;

import io.lightmq.wire.entry.FaultCode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What one connection has open: sessions, producers, consumers, and the destinations that it may
 * publish to. Owned by the connection's event loop; every collection is bounded by the settings,
 * and all of all connections by {@link ConnectionHeap}.
 */
final class Resources {
  private static final int REMEMBERED = 16;

  private final ConnectionSettings settings;
  private final ConnectionHeap heap;
  private long taken;
  private final Set<Integer> sessions = new HashSet<>();
  private final Map<Integer, Producer> producers = new HashMap<>();
  private final Map<Integer, Integer> sessionOfConsumer = new HashMap<>();

  /** How many open producers each destination has. */
  private final Map<Long, Integer> destinations = new HashMap<>();

  /**
   * Destinations whose producers are closed: unconfirmed runs may still be sent again. Beyond the
   * limit of producers, or of heap, the oldest goes; {@value #REMEMBERED} always stay.
   */
  private final Set<Long> left = new LinkedHashSet<>();

  private boolean ended;

  private record Producer(int sessionId, @Nullable Long destinationId) {}

  Resources(ConnectionSettings settings, ConnectionHeap heap) {
    this.settings = settings;
    this.heap = heap;
  }

  private void take(String what, long bytes) throws ProtocolRefusal {
    boolean fits = heap.take(bytes, taken);
    while (!fits && !left.isEmpty()) {
      forgetOldest();
      fits = heap.take(bytes, taken);
    }
    if (!fits) {
      throw heap.refusal(what, taken);
    }
    taken += bytes;
  }

  private void forgetOldest() {
    Iterator<Long> oldest = left.iterator();
    oldest.next();
    oldest.remove();
    give(ConnectionHeap.DESTINATION);
  }

  private void give(long bytes) {
    heap.give(bytes, taken);
    taken -= bytes;
  }

  /** The heap that is reckoned for what is open here. */
  long taken() {
    return taken;
  }

  /** The connection has ended and takes nothing any more. */
  void end() {
    sessions.clear();
    producers.clear();
    sessionOfConsumer.clear();
    destinations.clear();
    left.clear();
    give(taken);
    ended = true;
  }

  void openSession(int sessionId) throws ProtocolRefusal {
    if (sessions.contains(sessionId)) {
      throw ProtocolRefusal.protocol("session " + sessionId + " is open already");
    }
    checkLimit("sessions", sessions.size(), settings.counts().sessions());
    take("a session", ConnectionHeap.SESSION);
    sessions.add(sessionId);
  }

  /** Closes a session; one that is not open is closed, as after a reconnect. */
  void closeSession(int sessionId) {
    if (!sessions.remove(sessionId)) {
      return;
    }
    give(ConnectionHeap.SESSION);
    int consumers = sessionOfConsumer.size();
    sessionOfConsumer.values().removeIf(session -> session == sessionId);
    give((long) ConnectionHeap.CONSUMER * (consumers - sessionOfConsumer.size()));
    producers
        .values()
        .removeIf(
            producer -> {
              if (producer.sessionId() != sessionId) {
                return false;
              }
              leave(producer);
              return true;
            });
  }

  void openProducer(int producerId, int sessionId) throws ProtocolRefusal {
    checkSession(sessionId);
    if (producers.containsKey(producerId)) {
      throw ProtocolRefusal.protocol("producer " + producerId + " is open already");
    }
    checkLimit("producers", producers.size(), settings.counts().producers());
    take("a producer", ConnectionHeap.PRODUCER + ConnectionHeap.DESTINATION);
    producers.put(producerId, new Producer(sessionId, null));
  }

  /** Ties a producer, if it is still open, to the destination that the shard has resolved. */
  void resolved(int producerId, long destinationId) {
    if (ended) {
      return;
    }
    if (mayPublish(destinationId)) {
      give(ConnectionHeap.DESTINATION); // it was taken for this producer, and is there already
    }
    Producer producer = producers.get(producerId);
    if (producer != null) {
      producers.put(producerId, new Producer(producer.sessionId(), destinationId));
      left.remove(destinationId);
      destinations.merge(destinationId, 1, Integer::sum);
    } else if (!destinations.containsKey(destinationId)) {
      remember(destinationId);
    }
  }

  private void remember(long destinationId) {
    left.add(destinationId);
    while (left.size() > settings.counts().producers()
        || (left.size() > REMEMBERED && heap.isShort())) {
      forgetOldest();
    }
  }

  /** A producer that the shard has refused. */
  void failed(int producerId) {
    if (!ended) {
      closeProducer(producerId);
      give(ConnectionHeap.DESTINATION);
    }
  }

  void closeProducer(int producerId) {
    Producer producer = producers.remove(producerId);
    if (producer != null) {
      leave(producer);
    }
  }

  private void leave(Producer producer) {
    give(ConnectionHeap.PRODUCER);
    Long destination = producer.destinationId();
    if (destination != null
        && destinations.computeIfPresent(destination, (id, open) -> open == 1 ? null : open - 1)
            == null) {
      remember(destination);
    }
  }

  void openConsumer(int consumerId, int sessionId) throws ProtocolRefusal {
    checkSession(sessionId);
    if (sessionOfConsumer.containsKey(consumerId)) {
      throw ProtocolRefusal.protocol("consumer " + consumerId + " is open already");
    }
    checkLimit("consumers", sessionOfConsumer.size(), settings.counts().consumers());
    take("a consumer", ConnectionHeap.CONSUMER);
    sessionOfConsumer.put(consumerId, sessionId);
  }

  void closeConsumer(int consumerId) {
    if (sessionOfConsumer.remove(consumerId) != null) {
      give(ConnectionHeap.CONSUMER);
    }
  }

  /** Whether a producer of this connection was attached to a destination. */
  boolean mayPublish(long destinationId) {
    return destinations.containsKey(destinationId) || left.contains(destinationId);
  }

  /** Whether a session is open. */
  boolean isOpen(int sessionId) {
    return sessions.contains(sessionId);
  }

  private void checkSession(int sessionId) throws ProtocolRefusal {
    if (!sessions.contains(sessionId)) {
      throw ProtocolRefusal.of(
          FaultCode.BAD_REQUEST, "session " + sessionId + " is not open on this connection");
    }
  }

  private static void checkLimit(String what, int open, int limit) throws ProtocolRefusal {
    if (open >= limit) {
      throw ProtocolRefusal.of(
          FaultCode.LIMIT_REACHED,
          "a connection has at most " + limit + " " + what + "; close some or open another one");
    }
  }
}
