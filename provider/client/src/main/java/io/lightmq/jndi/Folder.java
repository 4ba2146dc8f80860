package io.lightmq.jndi;

import io.lightmq.client.LightmqQueue;
import io.lightmq.client.LightmqTopic;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.naming.LimitExceededException;
import javax.naming.NamingException;
import org.jspecify.annotations.Nullable;

/**
 * A level of the names of one initial context: plain, with objects and further levels, or one whose
 * destinations exist by being looked up. All levels of a context share one lock and one limit.
 */
final class Folder {
  /** The most that one initial context holds; beyond it binding is refused. */
  static final int MAX_ENTRIES = 100_000;

  /** What the levels of one initial context share. */
  private static final class Shared {
    int entryCount;
  }

  /** What looking up makes. */
  enum Dynamic {
    QUEUES,
    TOPICS;

    /** The destination of a name, however many parts it has. */
    Object destination(String name) {
      return this == QUEUES ? new LightmqQueue(name) : new LightmqTopic(name);
    }
  }

  private final Shared shared;
  private final @Nullable Dynamic dynamic;
  private final SortedMap<String, Object> entries = new TreeMap<>();

  private Folder(Shared shared, @Nullable Dynamic dynamic) {
    this.shared = shared;
    this.dynamic = dynamic;
  }

  /** A first level, with the two of dynamic destinations. */
  static Folder root() {
    Folder root = new Folder(new Shared(), null);
    root.entries.put("dynamicQueues", new Folder(root.shared, Dynamic.QUEUES));
    root.entries.put("dynamicTopics", new Folder(root.shared, Dynamic.TOPICS));
    return root;
  }

  /** For {@code queues/X} and {@code topics/X}, which some files look up without binding them. */
  static @Nullable Dynamic unbound(String name) {
    return switch (name.toLowerCase(Locale.ROOT)) {
      case "queues", "dynamicqueues" -> Dynamic.QUEUES;
      case "topics", "dynamictopics" -> Dynamic.TOPICS;
      default -> null;
    };
  }

  @Nullable Dynamic dynamic() {
    return dynamic;
  }

  @Nullable Object get(String name) {
    synchronized (shared) {
      return entries.get(name);
    }
  }

  /** Binds the name if it is free, and tells whether it was. */
  boolean putIfFree(String name, Object value) throws NamingException {
    synchronized (shared) {
      if (entries.containsKey(name)) {
        return false;
      }
      put(name, value);
      return true;
    }
  }

  void put(String name, Object value) throws NamingException {
    synchronized (shared) {
      if (!entries.containsKey(name)) {
        if (shared.entryCount >= MAX_ENTRIES) {
          throw new LimitExceededException(
              "the context has " + shared.entryCount + " names, the limit is " + MAX_ENTRIES);
        }
        shared.entryCount++;
      }
      entries.put(name, value);
    }
  }

  /** A level below, bound if it is free, or null if something else is there. */
  @Nullable Folder folder(String name) throws NamingException {
    synchronized (shared) {
      Folder made = new Folder(shared, null);
      return putIfFree(name, made)
          ? made
          : entries.get(name) instanceof Folder found ? found : null;
    }
  }

  void remove(String name) {
    synchronized (shared) {
      if (entries.remove(name) != null) {
        shared.entryCount--;
      }
    }
  }

  /** Removes a level below that holds nothing, and tells whether it held nothing. */
  boolean removeEmpty(String name, Folder below) {
    synchronized (shared) {
      if (!below.entries.isEmpty()) {
        return false;
      }
      remove(name);
      return true;
    }
  }

  /** Moves an entry, if the new name is free, and tells whether it was. */
  boolean move(String from, Folder target, String to) {
    synchronized (shared) {
      Object value = entries.get(from);
      if (value == null || target.entries.putIfAbsent(to, value) != null) {
        return false;
      }
      entries.remove(from);
      return true;
    }
  }

  /** A copy of what is here now. */
  Map<String, Object> copy() {
    synchronized (shared) {
      return new TreeMap<>(entries);
    }
  }
}
