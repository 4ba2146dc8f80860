package io.lightmq.client.link;

import io.lightmq.client.link.BrokerLink.ConsumerSpec;
import io.lightmq.client.link.BrokerLink.Target;
import io.lightmq.client.link.BrokerLink.Temporary;
import io.lightmq.wire.Frame;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * What is open on the link and is opened again on each new connection: sessions, temporary
 * destinations, targets, consumers. The broker's limits per connection bound it. Belongs to the
 * link's loop.
 */
final class OpenThings {
  /** Asks on the connection that is being restored. */
  interface Asker extends Function<IntFunction<Frame>, CompletableFuture<Frame>> {}

  /** Told of a consumer that could not be opened again. */
  interface LostConsumers {
    void lost(int consumerId, LinkException cause);
  }

  private final Set<Integer> sessions = new LinkedHashSet<>();
  private final Map<Integer, Target> targets = new LinkedHashMap<>();
  private final Map<Integer, ConsumerSpec> consumers = new LinkedHashMap<>();
  private final List<Temporary> temporaries = new ArrayList<>();

  /** The sessions, targets and consumers that were asked for anew on this connection. */
  private final Set<Integer> reopened = new HashSet<>();

  private boolean temporariesReopened;
  private boolean numbersTemporaries;

  /** What the broker of the new connection can do; see {@link Protocol}. */
  void agreed(long features) {
    numbersTemporaries = (features & Protocol.TEMPORARY_BY_LINK) != 0;
  }

  /** The frame that creates a temporary destination, or asks for it again. */
  Frame create(int correlation, DestinationKind kind, long number) {
    return new Frame.CreateTemporary(correlation, kind, numbersTemporaries ? number : 0);
  }

  /** There is no connection, or a new one on which nothing is open yet. */
  void nothingReopened() {
    reopened.clear();
    temporariesReopened = false;
  }

  /** Whether the new connection has been asked for a session, target or consumer. */
  boolean isReopened(int id) {
    return reopened.contains(id);
  }

  boolean areTemporariesReopened() {
    return temporariesReopened;
  }

  void opened(int sessionId) {
    sessions.add(sessionId);
  }

  void opened(Target target) {
    targets.put(target.producerId(), target);
  }

  void opened(ConsumerSpec consumer) {
    consumers.put(consumer.consumerId(), consumer);
  }

  void opened(Temporary temporary) {
    temporaries.add(temporary);
  }

  void closedSession(int sessionId) {
    sessions.remove(sessionId);
    for (Target target : targets.values()) {
      if (target.sessionId() == sessionId) {
        target.refused(closed());
      }
    }
    targets.values().removeIf(target -> target.sessionId() == sessionId);
    consumers.values().removeIf(consumer -> consumer.sessionId() == sessionId);
  }

  void closed(Target target) {
    targets.remove(target.producerId());
  }

  void closedConsumer(int consumerId) {
    consumers.remove(consumerId);
  }

  void closed(Temporary temporary) {
    temporaries.remove(temporary);
  }

  /** The name of today: one from a broker before numbers may have changed. */
  DestinationName current(DestinationName name) {
    if (name.kind().isTemporary()) {
      for (Temporary temporary : temporaries) {
        if (temporary.hadName(name)) {
          return temporary.name();
        }
      }
    }
    return name;
  }

  /**
   * Opens sessions and temporary destinations, then targets; ends with the targets that failed.
   *
   * @param neededSessions those to open even if they are closed, to send again what is unconfirmed
   * @param needed likewise, targets
   */
  CompletableFuture<Set<Target>> reopen(
      Asker asker, Set<Integer> neededSessions, Set<Target> needed) {
    List<CompletableFuture<?>> first = new ArrayList<>();
    Set<Integer> wanted = new LinkedHashSet<>(sessions);
    wanted.addAll(neededSessions);
    reopened.addAll(wanted);
    temporariesReopened = true;
    for (int session : wanted) {
      first.add(asker.apply(c -> new Frame.OpenSession(c, session)));
    }
    for (Temporary temporary : temporaries) {
      first.add(
          asker
              .apply(c -> create(c, temporary.name().kind(), temporary.number()))
              .thenAccept(answer -> temporary.renamed(made(answer, temporary.name().kind()))));
    }
    return all(first).thenCompose(done -> reopenTargets(asker, needed));
  }

  /**
   * The temporary destination that a broker has made.
   *
   * @throws ClassCastException if it is not of that kind
   */
  static DestinationName made(Frame answer, DestinationKind kind) {
    DestinationName made = ((Frame.TemporaryCreated) answer).destination();
    if (made.kind() != kind) {
      throw new ClassCastException("asked for a " + kind + ", not for a " + made.kind());
    }
    return made;
  }

  private CompletableFuture<Set<Target>> reopenTargets(Asker asker, Set<Target> needed) {
    Set<Target> wanted = new LinkedHashSet<>(targets.values());
    wanted.addAll(needed);
    Set<Target> gone = new HashSet<>();
    List<CompletableFuture<?>> answers = new ArrayList<>();
    for (Target target : wanted) {
      reopened.add(target.producerId());
      DestinationName name = current(target.destination());
      answers.add(
          asker
              .apply(
                  c -> new Frame.AttachProducer(c, target.producerId(), target.sessionId(), name))
              .handle(
                  (answer, failure) -> {
                    if (answer instanceof Frame.ProducerAttached attached) {
                      target.resolved(attached.destinationId());
                      if (!sessions.contains(target.sessionId())) {
                        target.refused(closed());
                      }
                    } else {
                      target.refused(gone(target, requireAnswer(failure)));
                      gone.add(target);
                    }
                    return gone;
                  }));
    }
    return all(answers).thenApply(done -> gone);
  }

  /** Closes the sessions that were opened only to send again. */
  void closeSpare(Set<Integer> neededSessions, Asker asker) {
    for (int session : neededSessions) {
      if (!sessions.contains(session)) {
        var unused = asker.apply(c -> new Frame.CloseSession(c, session));
      }
    }
  }

  /** Opens the consumers; those that fail are told and forgotten. */
  CompletableFuture<@Nullable Void> reopenConsumers(Asker asker, LostConsumers lost) {
    List<CompletableFuture<?>> answers = new ArrayList<>();
    for (ConsumerSpec spec : new ArrayList<>(consumers.values())) {
      reopened.add(spec.consumerId());
      answers.add(
          asker
              .apply(c -> attach(c, spec))
              .handle(
                  (answer, failure) -> {
                    if (failure != null) {
                      requireAnswer(failure);
                      consumers.remove(spec.consumerId());
                      lost.lost(
                          spec.consumerId(), Connector.failure("reopening a consumer", failure));
                    }
                    return answer;
                  }));
    }
    return all(answers);
  }

  /** Lets only the broker's own refusals pass: a lost connection is none, all is tried again. */
  private static LinkException requireAnswer(@Nullable Throwable failure) {
    LinkException cause = Connector.failure("opening again", Connector.unwrap(failure));
    if (cause.code() == FaultCode.OUTCOME_UNKNOWN || cause.code() == FaultCode.CLOSING) {
      throw new CompletionException(cause);
    }
    return cause;
  }

  private static LinkException closed() {
    return new LinkException(
        FaultCode.CLOSING, "the session was closed before the message was sent");
  }

  private static LinkException gone(Target target, LinkException cause) {
    return new LinkException(
        FaultCode.DESTINATION_GONE,
        target.destination().name()
            + " could not be opened again after the connection was lost: "
            + cause.getMessage(),
        cause);
  }

  /** The frame that opens a consumer. */
  Frame attach(int correlation, ConsumerSpec spec) {
    return new Frame.AttachConsumer(
        correlation,
        spec.consumerId(),
        spec.sessionId(),
        current(spec.destination()),
        spec.subscribe(),
        spec.subscription(),
        spec.selector(),
        spec.noLocal(),
        spec.noAcknowledge());
  }

  private static CompletableFuture<@Nullable Void> all(List<CompletableFuture<?>> answers) {
    return CompletableFuture.allOf(answers.toArray(new CompletableFuture<?>[0]));
  }
}
