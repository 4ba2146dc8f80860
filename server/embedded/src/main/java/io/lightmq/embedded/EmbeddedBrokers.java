package io.lightmq.embedded;

import io.lightmq.client.link.ClientUri;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
    synchronized (RUNNING) {
      RunningBroker broker = RUNNING.remove(key);
      if (broker == null) {
        return false;
      }
      end(broker);
      return true;
    }
  }

  /** Gives one more connection its share in a broker, starting it if there is none. */
  static RunningBroker share(ClientUri uri) throws IOException {
    String key = key(uri);
    boolean keep = Boolean.parseBoolean(uri.options().getOrDefault("keep", "false"));
    synchronized (RUNNING) {
      RunningBroker broker = RUNNING.get(key);
      if (broker != null && broker.failed()) {
        RUNNING.remove(key);
        end(broker);
        broker = null;
      }
      if (broker == null) {
        broker =
            uri.scheme().equals("mem")
                ? RunningBroker.inMemory(key)
                : RunningBroker.inDirectory(key, directory(uri));
        RUNNING.put(key, broker);
        addHook();
      }
      broker.shares++;
      broker.kept |= keep;
      return broker;
    }
  }

  static void giveUp(RunningBroker broker) {
    synchronized (RUNNING) {
      broker.shares--;
      if (broker.shares == 0 && !broker.kept && RUNNING.remove(broker.key(), broker)) {
        end(broker);
      }
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
      broker.close();
    } catch (IOException | RuntimeException e) {
      log.error(
          "The broker {} did not close cleanly; it recovers when it is opened again",
          broker.key(),
          e);
    }
    if (RUNNING.isEmpty()) {
      removeHook();
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
    synchronized (RUNNING) {
      List<RunningBroker> all = new ArrayList<>(RUNNING.values());
      RUNNING.clear();
      all.forEach(EmbeddedBrokers::end);
    }
  }
}
