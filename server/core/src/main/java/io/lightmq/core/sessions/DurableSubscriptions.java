package io.lightmq.core.sessions;

import io.lightmq.core.delivery.Dispatcher;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Interest;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.core.door.Command;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.record.ShardRecord.Replaced;
import io.lightmq.core.record.ShardRecord.SubscriptionClosed;
import io.lightmq.core.record.ShardRecord.SubscriptionOpened;
import io.lightmq.core.record.ShardRecord.SubscriptionOwned;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.SubscriptionKey;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens, replaces and ends durable subscriptions, which are in the journal and belong to the user
 * who made them. One with another topic, selector or no-local is another one, and takes the place
 * of the first when that has no consumer (section 8.3.3).
 */
@OwnedBy("shard")
public final class DurableSubscriptions {
  /**
   * Durable subscriptions of a topic that do not want everything, at most: each takes room in the
   * record of every run of which it does not want all.
   */
  public static final int MAX_PARTIAL_DURABLE = 1_000;

  private static final Logger log = LoggerFactory.getLogger(DurableSubscriptions.class);

  private final ShardState state;
  private final Recorder recorder;
  private final Dispatcher dispatcher;
  private final Counters counters;
  private final SelectorBudget selectors;
  private final NamedBudget budget;

  DurableSubscriptions(
      Recorder recorder,
      Dispatcher dispatcher,
      Counters counters,
      SelectorBudget selectors,
      NamedBudget budget) {
    this.state = recorder.state();
    this.recorder = recorder;
    this.dispatcher = dispatcher;
    this.counters = counters;
    this.selectors = selectors;
    this.budget = budget;
  }

  /** The durable subscription that a consumer asks for. */
  Subscription open(
      PeerSession session,
      Destination destination,
      Command.AttachConsumer command,
      Interest interest,
      SubscriptionKind kind) {
    SubscriptionKey key = Subscribing.key(session, command.subscription());
    if (kind == SubscriptionKind.DURABLE && key.clientId() == null) {
      throw new Refusal(
          FaultCode.INVALID_SUBSCRIPTION,
          "durable subscription \""
              + Printable.of(key.name())
              + "\" needs a connection with a client id");
    }
    if (destination.kind().isTemporary()) {
      throw new Refusal(
          FaultCode.INVALID_DESTINATION,
          "a temporary topic cannot have the durable subscription \""
              + Printable.of(key.name())
              + "\"");
    }
    Subscription known = state.durableSubscription(key);
    if (known != null) {
      checkOwner(session, known);
      if (known.kind() != kind) {
        throw Subscribing.differs(known, key);
      }
      boolean same = Subscribing.isSame(known, destination, interest);
      if (known.consumers() > 0 && !(same && kind.isShared())) {
        throw same ? inUse(key) : Subscribing.differs(known, key);
      }
      if (same) {
        takeOver(session, known);
        return known;
      }
    } else {
      Subscribing.checkNew(key);
    }
    if (known != null) {
      checkUntouched(known, key);
    }
    checkCount(destination, known);
    checkPartial(destination, interest, known);
    if (known == null) {
      budget.take("a subscription", destination.subscriptionBytes(key.name(), key.clientId()));
    }
    selectors.take(interest.selector());
    if (known != null) {
      counters.forget(known.destination().id(), known.id());
    }
    long id = state.nextSubscriptionId();
    Selector selector = interest.selector();
    recorder.record(
        new SubscriptionOpened(
            id,
            destination.id(),
            kind,
            key.clientId(),
            key.name(),
            selector == null ? null : selector.text(),
            interest.noLocal(),
            known == null ? null : new Replaced(known.destination().id(), known.id()),
            owner(session, known)));
    Subscription opened = destination.subscription(id);
    if (opened == null) {
      throw new IllegalStateException("subscription " + id + " was not opened");
    }
    return opened;
  }

  private static void checkOwner(PeerSession session, Subscription known) {
    Ownership.check(
        known.owner(),
        session.peer(),
        "durable subscription \"" + Printable.of(known.name()) + "\"");
  }

  /** A durable subscription of a store of before belongs to who uses it first, by name. */
  void takeOver(PeerSession session, Subscription known) {
    String owner = Ownership.next(known.owner(), session.peer());
    if (owner != null && known.owner() == null) {
      recorder.record(new SubscriptionOwned(known.destination().id(), known.id(), owner));
      log.info(
          "Durable subscription {} of topic {} had no owner and belongs to user {} from now on",
          known.id(),
          known.destination().id(),
          owner);
    }
  }

  /**
   * Whose a new durable subscription is. Beside others without an owner, one of an anonymous user
   * has none either: it would take the client id from the user to whom all of them will belong.
   */
  private @Nullable String owner(PeerSession session, @Nullable Subscription replaced) {
    String clientId = session.clientId();
    boolean beside = clientId != null && state.clientIdOwners().ownerless(clientId) != null;
    return beside || (replaced != null && replaced.owner() == null)
        ? Ownership.next(null, session.peer())
        : session.peer().userName();
  }

  private static void checkCount(Destination destination, @Nullable Subscription replaced) {
    boolean frees = replaced != null && replaced.destination() == destination;
    int others = destination.durableSubscriptions() - (frees ? 1 : 0);
    if (others >= ShardRecord.MAX_UNWANTED) {
      throw new Refusal(
          FaultCode.LIMIT_REACHED,
          "topic "
              + destination.name().name()
              + " has "
              + others
              + " durable subscriptions, as many as there can be; end those that nobody needs");
    }
  }

  private static void checkPartial(
      Destination destination, Interest interest, @Nullable Subscription replaced) {
    boolean frees =
        replaced != null && replaced.destination() == destination && replaced.isPartial();
    int others = destination.partialDurableSubscriptions() - (frees ? 1 : 0);
    if ((interest.selector() != null || interest.noLocal()) && others >= MAX_PARTIAL_DURABLE) {
      throw new Refusal(
          FaultCode.LIMIT_REACHED,
          "topic "
              + destination.name().shown()
              + " has "
              + others
              + " durable subscriptions with a selector or without local messages; more are not"
              + " possible, but any number with neither");
    }
  }

  private static Refusal inUse(SubscriptionKey key) {
    return new Refusal(
        FaultCode.IN_USE,
        "subscription \""
            + Printable.of(key.name())
            + "\" has an active consumer; close that first");
  }

  /** What a prepared branch acknowledges in it has to have a place when that is decided. */
  private void checkUntouched(Subscription known, SubscriptionKey key) {
    List<StagedTransaction> touching = state.transactions().preparedTouching(known);
    if (!touching.isEmpty()) {
      throw PreparedUse.refusal("subscription \"" + Printable.of(key.name()) + "\"", touching, "");
    }
  }

  /** Ends a durable subscription that has no consumer. */
  void unsubscribe(PeerSession session, String name) {
    SubscriptionKey key = Subscribing.key(session, name);
    Subscription known = state.durableSubscription(key);
    if (known == null) {
      throw new Refusal(
          FaultCode.INVALID_SUBSCRIPTION,
          "there is no durable subscription \""
              + Printable.of(name)
              + (key.clientId() == null
                  ? "\" without a client id"
                  : "\" of client id " + Printable.of(key.clientId())));
    }
    checkOwner(session, known);
    if (known.consumers() > 0) {
      throw inUse(key);
    }
    checkUntouched(known, key);
    close(known);
  }

  /** Ends a durable subscription, whoever's it is; its consumers end. */
  public void delete(Subscription durable) {
    state.guard().check();
    recorder.changing();
    dispatcher.end(durable, FaultCode.INVALID_SUBSCRIPTION);
    close(durable);
  }

  private void close(Subscription durable) {
    counters.forget(durable.destination().id(), durable.id());
    recorder.record(new SubscriptionClosed(durable.destination().id(), durable.id()));
  }
}
