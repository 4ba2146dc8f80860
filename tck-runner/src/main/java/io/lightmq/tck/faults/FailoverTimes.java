package io.lightmq.tck.faults;

import io.lightmq.client.ConnectionState;
import io.lightmq.client.LightmqConnection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * For how long connections were away and nothing was committed, by what was done to them. A thread
 * of its own looks at the connections.
 */
final class FailoverTimes implements AutoCloseable {
  private static final long LOOK_MILLIS = 5;

  private final Map<LightmqConnection, Integer> watched = new LinkedHashMap<>();
  private final Map<String, List<Long>> outageMillis = new TreeMap<>();
  private final Map<String, Long> longestGapMillis = new TreeMap<>();
  private final Thread thread = new Thread(this::look, "failover-times");
  private String fault = "none";
  private long lastCommitNanos = System.nanoTime();
  private long commits;
  private boolean over;

  FailoverTimes() {
    thread.setDaemon(true);
    thread.start();
  }

  synchronized void watch(LightmqConnection connection) {
    watched.put(connection, 0);
  }

  /** What happens from now on is the doing of this fault. */
  synchronized void during(String kind) {
    fault = kind;
  }

  /** A transaction has been committed. */
  synchronized void committed() {
    gapEnds();
    commits++;
  }

  private void gapEnds() {
    long now = System.nanoTime();
    long millis = TimeUnit.NANOSECONDS.toMillis(now - lastCommitNanos);
    longestGapMillis.merge(fault, millis, Math::max);
    lastCommitNanos = now;
  }

  synchronized long commits() {
    return commits;
  }

  /** How many connections are there. */
  synchronized boolean allAreReady() {
    return watched.keySet().stream().allMatch(connection -> connection.state().isReady());
  }

  synchronized String notReady() {
    List<String> away = new ArrayList<>();
    for (LightmqConnection connection : watched.keySet()) {
      ConnectionState state = connection.state();
      if (!state.isReady()) {
        away.add(state.phase() + " for " + state.outage().toMillis() + " ms: " + state.cause());
      }
    }
    return away.toString();
  }

  private void look() {
    try {
      while (true) {
        Thread.sleep(LOOK_MILLIS);
        synchronized (this) {
          if (over) {
            return;
          }
          watched.replaceAll(this::reconnects);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int reconnects(LightmqConnection connection, int before) {
    ConnectionState state = connection.state();
    if (state.isReady() && state.reconnects() > before) {
      outageMillis.computeIfAbsent(fault, any -> new ArrayList<>()).add(state.outage().toMillis());
      return state.reconnects();
    }
    return before;
  }

  /** A line for each fault. */
  synchronized List<String> lines() {
    List<String> lines = new ArrayList<>();
    longestGapMillis.forEach(
        (kind, gap) -> {
          List<Long> outages = new ArrayList<>(outageMillis.getOrDefault(kind, List.of()));
          outages.sort(null);
          lines.add(
              outages.isEmpty()
                  ? "%s: longest time without a commit %,d ms, no reconnects".formatted(kind, gap)
                  : ("%s: longest time without a commit %,d ms; %,d reconnects, median %,d ms, p99"
                          + " %,d ms, longest %,d ms")
                      .formatted(
                          kind,
                          gap,
                          outages.size(),
                          outages.get(outages.size() / 2),
                          outages.get(outages.size() * 99 / 100),
                          outages.get(outages.size() - 1)));
        });
    return lines;
  }

  @Override
  public synchronized void close() {
    over = true;
  }
}
