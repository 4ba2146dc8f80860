package io.lightmq.node.connection;

import io.lightmq.wire.entry.FaultCode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What one connection has open: sessions, producers, consumers, and the destinations that it may
 * publish to. Owned by the connection's event loop; every collection is bounded by the settings.
 */
final class Resources {
  private final ConnectionSettings settings;
  private final Set<Integer> sessions = new HashSet<>();
  private final Map<Integer, Producer> producers = new HashMap<>();
  private final Map<Integer, Integer> sessionOfConsumer = new HashMap<>();

  /**
   * Users of each resolved destination. One without any stays, since unconfirmed runs of a closed
   * producer may be sent again; beyond the limit of producers the oldest of those goes.
   */
  private final Map<Long, Integer> destinations = new LinkedHashMap<>();

  private record Producer(int sessionId, @Nullable Long destinationId) {}

  Resources(ConnectionSettings settings) {
    this.settings = settings;
  }

  void openSession(int sessionId) throws Refusal {
    if (sessions.contains(sessionId)) {
      throw Refusal.protocol("session " + sessionId + " is open already");
    }
    checkLimit("sessions", sessions.size(), settings.sessions());
    sessions.add(sessionId);
  }

  /** Closes a session; one that is not open is closed, as after a reconnect. */
  void closeSession(int sessionId) {
    sessions.remove(sessionId);
    sessionOfConsumer.values().removeIf(session -> session == sessionId);
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

  void openProducer(int producerId, int sessionId) throws Refusal {
    checkSession(sessionId);
    if (producers.containsKey(producerId)) {
      throw Refusal.protocol("producer " + producerId + " is open already");
    }
    checkLimit("producers", producers.size(), settings.producers());
    producers.put(producerId, new Producer(sessionId, null));
  }

  /** Ties a producer, if it is still open, to the destination that the shard has resolved. */
  void resolved(int producerId, long destinationId) {
    Producer producer = producers.get(producerId);
    boolean open = producer != null;
    destinations.merge(destinationId, open ? 1 : 0, Integer::sum);
    if (producer != null) {
      producers.put(producerId, new Producer(producer.sessionId(), destinationId));
    }
    if (destinations.size() > settings.producers()) {
      Iterator<Integer> uses = destinations.values().iterator();
      while (uses.hasNext()) {
        if (uses.next() == 0) {
          uses.remove();
          return;
        }
      }
    }
  }

  void closeProducer(int producerId) {
    Producer producer = producers.remove(producerId);
    if (producer != null) {
      leave(producer);
    }
  }

  private void leave(Producer producer) {
    Long destination = producer.destinationId();
    if (destination != null) {
      destinations.computeIfPresent(destination, (id, uses) -> uses - 1);
    }
  }

  void openConsumer(int consumerId, int sessionId) throws Refusal {
    checkSession(sessionId);
    if (sessionOfConsumer.containsKey(consumerId)) {
      throw Refusal.protocol("consumer " + consumerId + " is open already");
    }
    checkLimit("consumers", sessionOfConsumer.size(), settings.consumers());
    sessionOfConsumer.put(consumerId, sessionId);
  }

  void closeConsumer(int consumerId) {
    sessionOfConsumer.remove(consumerId);
  }

  /** Whether a producer of this connection was attached to a destination. */
  boolean mayPublish(long destinationId) {
    return destinations.containsKey(destinationId);
  }

  /** Whether a session is open. */
  boolean isOpen(int sessionId) {
    return sessions.contains(sessionId);
  }

  private void checkSession(int sessionId) throws Refusal {
    if (!sessions.contains(sessionId)) {
      throw Refusal.of(
          FaultCode.BAD_REQUEST, "session " + sessionId + " is not open on this connection");
    }
  }

  private static void checkLimit(String what, int open, int limit) throws Refusal {
    if (open >= limit) {
      throw Refusal.of(
          FaultCode.LIMIT_REACHED,
          "a connection has at most " + limit + " " + what + "; close some or open another one");
    }
  }
}
