package io.lightmq.node;

import io.lightmq.core.door.Figure;
import io.lightmq.core.door.JsonWriter;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.BrokerMetrics;
import io.lightmq.core.shard.BrokerMetrics.DestinationUse;
import io.lightmq.core.shard.BrokerMetrics.SubscriptionUse;
import io.lightmq.core.storage.FileFaults;
import io.lightmq.node.connection.NodeVerbs;
import io.lightmq.node.security.UserStore;
import io.lightmq.spi.Authenticator;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import io.lightmq.wire.scram.ScramCredential;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The admin verbs of a node: {@code broker.status}, {@code broker.stop} and {@code
 * user.list|add|set-password|remove}. A password never comes here: who sets one sends what SCRAM
 * keeps of it. They are carried out on the loop {@code admin}, since the file of users is written.
 */
final class Verbs implements NodeVerbs {
  private static final Logger log = LoggerFactory.getLogger(Verbs.class);
  private static final Map<String, Set<String>> ARGUMENTS =
      Map.of(
          "broker.status", Set.of(),
          "broker.stop", Set.of(),
          "user.list", Set.of(),
          "user.add", Set.of("name", "role", "credential"),
          "user.set-password", Set.of("name", "credential"),
          "user.remove", Set.of("name"));

  private final @Nullable UserStore users;
  private final Executor admin;
  private final long startedNanos = System.nanoTime();
  private volatile @Nullable Node node;
  private volatile @Nullable Runnable stop;

  Verbs(Authenticator authenticator, Executor admin) {
    this.users = authenticator instanceof UserStore store ? store : null;
    this.admin = admin;
  }

  void begin(Node started) {
    node = started;
  }

  void whenStopIsAsked(Runnable action) {
    stop = action;
  }

  @Override
  public boolean has(String verb) {
    return ARGUMENTS.containsKey(verb);
  }

  @Override
  public void execute(Peer peer, int correlation, String verb, Map<String, String> arguments) {
    try {
      admin.execute(() -> executeNow(peer, correlation, verb, arguments));
    } catch (RejectedExecutionException e) {
      peer.reply(correlation, failed(FaultCode.RETRY_LATER, "the broker is busy or ends"));
    }
  }

  private void executeNow(Peer peer, int correlation, String verb, Map<String, String> arguments) {
    Peer.Reply reply = answer(peer, verb, arguments);
    peer.reply(correlation, reply);
    Runnable action = stop;
    if (verb.equals("broker.stop") && action != null && reply instanceof Peer.Reply.Json) {
      action.run(); // behind the answer, which is on its way
    }
  }

  private Peer.Reply answer(Peer peer, String verb, Map<String, String> arguments) {
    try {
      for (String argument : arguments.keySet()) {
        if (!ARGUMENTS.getOrDefault(verb, Set.of()).contains(argument)) {
          throw new IllegalArgumentException(
              "argument " + Printable.of(argument) + " is unknown to " + verb);
        }
      }
      return carriedOut(peer, verb, arguments);
    } catch (IllegalArgumentException e) {
      return failed(FaultCode.BAD_REQUEST, String.valueOf(e.getMessage()));
    } catch (IOException e) {
      log.error("The users could not be written", e);
      return failed(
          FaultCode.BROKER_FAILED, "the users could not be written: " + FileFaults.text(e));
    } catch (RuntimeException e) {
      log.error("Verb {} failed", verb, e);
      return failed(FaultCode.BROKER_FAILED, "unexpected error; the broker's log has it");
    }
  }

  private static Peer.Reply failed(FaultCode code, String text) {
    return new Peer.Reply.Failed(code, text);
  }

  private Peer.Reply carriedOut(Peer peer, String verb, Map<String, String> arguments)
      throws IOException {
    JsonWriter json = new JsonWriter().beginObject();
    switch (verb) {
      case "broker.status" -> status(json);
      case "broker.stop" -> stop(peer, json);
      case "user.list" -> list(json);
      case "user.add" -> {
        String name = required(arguments, "name");
        String role = arguments.getOrDefault("role", "user");
        users().add(name, credential(arguments), Set.of(role));
        changed(peer, json, "added", name);
      }
      case "user.set-password" -> {
        String name = required(arguments, "name");
        users().setPassword(name, credential(arguments));
        changed(peer, json, "changed", name);
      }
      default -> {
        String name = required(arguments, "name");
        users().remove(name);
        Node open = node;
        if (open != null) {
          open.endOf(name, "the user " + Printable.of(name) + " was removed");
        }
        changed(peer, json, "removed", name);
      }
    }
    return new Peer.Reply.Json(json.endObject().toString());
  }

  private static void changed(Peer peer, JsonWriter json, String what, String name) {
    log.info("User {} {} by {}", Printable.of(name), what, Printable.of(peer.userName()));
    json.text(what, name);
  }

  private UserStore users() {
    UserStore store = users;
    if (store == null) {
      throw new IllegalArgumentException(
          "the users of this broker are not kept by itself; change them where they are");
    }
    return store;
  }

  private void list(JsonWriter json) {
    json.name("users").beginArray();
    for (UserStore.User user : users().list()) {
      json.beginObject()
          .text("name", user.name())
          .text("roles", String.join(", ", new TreeSet<>(user.roles())))
          .endObject();
    }
    json.endArray();
  }

  private static String required(Map<String, String> arguments, String name) {
    String text = arguments.get(name);
    if (text == null || text.isEmpty()) {
      throw new IllegalArgumentException("argument " + name + " is missing");
    }
    return text;
  }

  private static ScramCredential credential(Map<String, String> arguments) {
    return ScramCredential.parse(required(arguments, "credential"));
  }

  private void stop(Peer peer, JsonWriter json) {
    if (stop == null) {
      throw new IllegalArgumentException(
          "this broker is a part of another program and ends with it");
    }
    log.info(
        "Asked to stop by {} from {}", Printable.of(peer.userName()), Printable.of(peer.address()));
    json.text("stopping", "true").number("pid", ProcessHandle.current().pid());
  }

  private void status(JsonWriter json) {
    Node open = node;
    if (open == null) {
      throw new IllegalArgumentException("the broker is starting; ask again");
    }
    NodeMetrics metrics = open.metrics();
    BrokerMetrics broker = metrics.broker();
    long backlog = broker.others().backlog();
    for (DestinationUse destination : broker.destinations()) {
      for (SubscriptionUse subscription : destination.subscriptions()) {
        backlog += subscription.backlog().messages();
      }
    }
    String paused = broker.load().publishesPaused();
    Runtime runtime = Runtime.getRuntime();
    String version = Verbs.class.getPackage().getImplementationVersion();
    json.text("version", version == null ? "(unpackaged)" : version)
        .number("pid", ProcessHandle.current().pid())
        .number("upSeconds", TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedNanos))
        .number("connections", metrics.connections().open())
        .number("destinations", broker.destinations().size() + broker.others().destinations())
        .number("backlog", backlog)
        .number("delayed", broker.of(Figure.DELAYED))
        .text("publishesPaused", paused.isEmpty() ? "no" : paused)
        .number("journalUsedBytes", broker.journal().usedBytes())
        .number("journalCapacityBytes", broker.journal().capacityBytes())
        .number("segmentBytes", broker.checkpoints().segmentBytes())
        .number("diskUsableBytes", broker.disk().usableBytes())
        .number("diskTotalBytes", broker.disk().totalBytes())
        .number("heapUsedBytes", runtime.totalMemory() - runtime.freeMemory())
        .number("heapMaxBytes", runtime.maxMemory());
  }
}
