package io.lightmq.embedded;

import io.lightmq.client.link.ClientUri;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The brokers of this Java machine, one for each URI. They are closed with their last connection;
 * those that were kept, by {@link #close} or when the machine ends. Any thread.
 */
public final class EmbeddedBrokers {
  private static final Logger log = LoggerFactory.getLogger(EmbeddedBrokers.class);
  private static final Map<String, RunningBroker> RUNNING = new HashMap<>();

  /** Keys whose broker a thread starts or ends; guarded by the map of running brokers. */
  private static final Set<String> BUSY = new HashSet<>();

  private static @Nullable Thread hook;

  private EmbeddedBrokers() {}

  /**
   * Closes the broker of a URI, whoever is connected, and returns when its threads have ended.
   *
   * @return whether there was one
   * @throws IllegalArgumentException if it is not a URI of an embedded broker
   */
  public static boolean close(String uri) {
    String key = key(ClientUri.parse(uri));
    RunningBroker broker;
    synchronized (RUNNING) {
      awaitIdle(key);
      broker = RUNNING.remove(key);
      if (broker == null) {
        return false;
      }
      BUSY.add(key);
    }
    endBusy(broker);
    return true;
  }

  /** Gives one more connection its share in a broker, starting it if there is none. */
  static RunningBroker share(ClientUri uri) throws IOException {
    String key = key(uri);
    boolean keep = Boolean.parseBoolean(uri.options().getOrDefault("keep", "false"));
    RunningBroker before;
    synchronized (RUNNING) {
      awaitIdle(key);
      before = RUNNING.get(key);
      if (before != null && !before.failed()) {
        return shared(before, keep);
      }
      RUNNING.remove(key);
      BUSY.add(key);
    }
    RunningBroker started = null;
    try {
      if (before != null) {
        end(before);
      }
      started = Undisturbed.call("lightmq-open", () -> start(key, uri));
    } finally {
      synchronized (RUNNING) {
        if (started != null) {
          RUNNING.put(key, shared(started, keep));
          addHook();
        }
        idle(key);
      }
    }
    return started;
  }

  private static RunningBroker start(String key, ClientUri uri) throws IOException {
    return uri.scheme().equals("mem")
        ? RunningBroker.inMemory(key)
        : RunningBroker.inDirectory(key, directory(uri));
  }

  private static RunningBroker shared(RunningBroker broker, boolean keep) {
    broker.shares++;
    broker.kept |= keep;
    return broker;
  }

  static void giveUp(RunningBroker broker) {
    synchronized (RUNNING) {
      broker.shares--;
      if (broker.shares > 0 || broker.kept || !RUNNING.remove(broker.key(), broker)) {
        return;
      }
      BUSY.add(broker.key());
    }
    endBusy(broker);
  }

  // ---- who starts or ends a broker, which may take long and is never done under the lock ----

  private static void endBusy(RunningBroker broker) {
    try {
      end(broker);
    } finally {
      synchronized (RUNNING) {
        idle(broker.key());
      }
    }
  }

  private static void idle(String key) {
    BUSY.remove(key);
    if (RUNNING.isEmpty() && BUSY.isEmpty()) {
      removeHook();
    }
    RUNNING.notifyAll();
  }

  /** Waits, giving the lock up, until nobody starts or ends the broker of a key. */
  private static void awaitIdle(String key) {
    boolean interrupted = false;
    while (BUSY.contains(key)) {
      try {
        RUNNING.wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static String key(ClientUri uri) {
    return switch (uri.scheme()) {
      case "mem" -> "mem:" + uri.path();
      case "file" -> "file:" + directory(uri);
      default ->
          throw new IllegalArgumentException(uri + " is neither lightmq:mem nor lightmq:file");
    };
  }

  private static Path directory(ClientUri uri) {
    return Path.of(uri.path()).toAbsolutePath().normalize();
  }

  /** Nobody can be told of a failure here; the journal has what was confirmed. */
  private static void end(RunningBroker broker) {
    try {
      Undisturbed.call(
          "lightmq-close",
          () -> {
            broker.close();
            return broker;
          });
    } catch (IOException | RuntimeException e) {
      log.error(
          "The broker {} did not close cleanly; it recovers when it is opened again",
          broker.key(),
          e);
    }
  }

  private static void addHook() {
    if (hook == null) {
      hook = new Thread(EmbeddedBrokers::closeAll, "lightmq-shutdown");
      Runtime.getRuntime().addShutdownHook(hook);
    }
  }

  private static void removeHook() {
    Thread added = hook;
    if (added != null && added != Thread.currentThread()) {
      try {
        Runtime.getRuntime().removeShutdownHook(added);
        hook = null;
      } catch (IllegalStateException machineEnds) {
        log.debug("The Java machine is ending already");
      }
    }
  }

  private static void closeAll() {
    while (true) {
      RunningBroker next;
      synchronized (RUNNING) {
        for (String key : List.copyOf(BUSY)) {
          awaitIdle(key);
        }
        Iterator<RunningBroker> left = RUNNING.values().iterator();
        if (!left.hasNext()) {
          return;
        }
        next = left.next();
        left.remove();
        BUSY.add(next.key());
      }
      endBusy(next);
    }
  }
}
