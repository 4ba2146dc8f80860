package io.lightmq.core.sessions;

import io.lightmq.core.delivery.Consumer;
import io.lightmq.core.delivery.Dispatcher;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DestinationRules;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.Interest;
import io.lightmq.core.destination.NamedHeap;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.core.door.Command;
import io.lightmq.core.record.ShardRecord.DestinationCreated;
import io.lightmq.core.record.ShardRecord.DestinationDeleted;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.InvalidSelectorException;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.SubscriptionKey;
import io.lightmq.core.transaction.Link;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import io.lightmq.wire.entry.TemporaryName;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Resolves destinations and opens and ends what subscribes to them; {@link DurableSubscriptions}
 * has those that are in the journal. Temporary destinations and subscriptions without durability
 * are in no record; their ids begin at 2^62 and hold the shard epoch, so that a crash cannot give
 * one to anything else.
 */
@OwnedBy("shard")
public final class Subscribing {
  static final long UNLOGGED_ID = 1L << 62;

  /** The lower bits of such an id count in this process; above them stands the shard epoch. */
  static final int UNLOGGED_ID_BITS = 31;

  static final long UNLOGGED_ID_COUNT = (1L << UNLOGGED_ID_BITS) - 1;

  private final ShardState state;
  private final Recorder recorder;
  private final Dispatcher dispatcher;
  private final DestinationRules rules;
  private final boolean createOnFirstUse;
  private final Counters counters;
  private final SelectorBudget selectors;
  private final NamedBudget budget;
  private final Temporaries temporaries;
  private final DurableSubscriptions durable;
  private final Map<SubscriptionKey, Subscription> shared = new HashMap<>();

  public Subscribing(
      Recorder recorder,
      Dispatcher dispatcher,
      DestinationRules rules,
      boolean createOnFirstUse,
      Counters counters,
      NamedBudget budget,
      Temporaries temporaries) {
    this.state = recorder.state();
    this.recorder = recorder;
    this.dispatcher = dispatcher;
    this.rules = rules;
    this.createOnFirstUse = createOnFirstUse;
    this.counters = counters;
    this.budget = budget;
    this.temporaries = temporaries;
    this.selectors = new SelectorBudget(state, dispatcher.browsers());
    this.durable = new DurableSubscriptions(recorder, dispatcher, counters, selectors, budget);
  }

  /** Those that are durable. */
  public DurableSubscriptions durable() {
    state.guard().check();
    return durable;
  }

  private long unloggedId() {
    return UNLOGGED_ID | (state.epoch() << UNLOGGED_ID_BITS) | state.takeUnloggedId();
  }

  // ---- destinations ----

  /** As {@link #resolve}; who sends may be earlier than who has the temporary destination. */
  Destination resolveToSend(PeerSession sender, DestinationName name, boolean mayCreate) {
    DestinationName meant = TemporaryName.meant(name);
    if (meant.kind().isTemporary()
        && state.destinations().find(meant) == null
        && temporaries.mayComeBack(sender, meant)) {
      budget.take("a temporary destination", NamedHeap.of(meant.name(), meant.kind().isQueue()));
      Destination made = createTemporary(unloggedId(), meant);
      temporaries.await(sender, made);
      return made;
    }
    return resolve(meant, mayCreate);
  }

  /** What a destination of this name begins with. */
  public DestinationSettings settingsFor(DestinationName name) {
    return rules.settingsFor(name);
  }

  /** Finds a destination, or creates it if missing and permitted. */
  Destination resolve(DestinationName name, boolean mayCreate) {
    Destination found = existing(name, mayCreate);
    return found != null ? found : create(name, rules.settingsFor(name));
  }

  /**
   * Finds a destination; null if it is missing and may be created.
   *
   * @throws Refusal if it is missing and may not be created
   */
  public @Nullable Destination existing(DestinationName asked, boolean mayCreate) {
    state.guard().check();
    DestinationName name = TemporaryName.meant(asked);
    Destination found = state.destinations().find(name);
    if (found != null && !found.isHidden()) {
      return found;
    }
    if (name.name().startsWith(Destination.HIDDEN)) {
      throw new Refusal(
          FaultCode.INVALID_DESTINATION,
          "the broker keeps names that begin with " + Destination.HIDDEN + " for itself");
    }
    if (name.kind().isTemporary()) {
      throw new Refusal(
          FaultCode.INVALID_DESTINATION,
          "temporary destination " + name.shown() + " does not exist; its connection has ended");
    }
    if (!createOnFirstUse || !mayCreate) {
      throw new Refusal(
          FaultCode.INVALID_DESTINATION,
          (name.kind().isQueue() ? "queue " : "topic ")
              + name.shown()
              + " does not exist and "
              + (createOnFirstUse
                  ? "the user may not create it"
                  : "creation on first use is switched off")
              + "; create it with: destination create");
    }
    return null;
  }

  /**
   * Looks for a queue to move messages to; changes nothing.
   *
   * @param own whether a setting names it: then it may also be created where clients may make no
   *     more
   * @throws Refusal if it is missing and cannot be created
   */
  public Target target(DestinationName name, boolean own) {
    state.guard().check();
    Destination found = existing(name, true);
    if (found != null) {
      return new Target(found, null);
    }
    MissingQueue missing = new MissingQueue(name, rules.settingsFor(name));
    if (own) {
      budget.lookOfReserve(shown(name), missing.heapBytes(), 0);
    } else {
      budget.look(shown(name), missing.heapBytes(), 0);
    }
    return new Target(null, missing);
  }

  /**
   * A holder that may be created; changes nothing.
   *
   * @param before what is created before it takes so much heap
   * @throws Refusal if it cannot be created
   */
  public MissingQueue holder(DestinationName name, DestinationSettings settings, long before) {
    state.guard().check();
    MissingQueue missing = new MissingQueue(name, settings);
    budget.look(shown(name), missing.heapBytes(), before);
    return missing;
  }

  /**
   * The same for what was taken before; changes nothing.
   *
   * @throws Refusal if not even the broker's reserve has room
   */
  public MissingQueue holderOfReserve(DestinationName name, DestinationSettings settings) {
    state.guard().check();
    MissingQueue missing = new MissingQueue(name, settings);
    budget.lookOfReserve(shown(name), missing.heapBytes(), 0);
    return missing;
  }

  /** Creates what was found to be missing. */
  public Destination create(MissingQueue missing) {
    state.guard().check();
    return made(missing.name(), missing.settings());
  }

  private static String shown(DestinationName name) {
    return (name.kind().isQueue() ? "queue " : "topic ") + name.shown();
  }

  /** Creates a destination that does not exist. */
  public Destination create(DestinationName name, DestinationSettings settings) {
    state.guard().check();
    budget.take(shown(name), NamedHeap.of(name.name(), name.kind().isQueue()));
    return made(name, settings);
  }

  private Destination made(DestinationName name, DestinationSettings settings) {
    recorder.create(new DestinationCreated(state.destinations().nextId(), name, settings));
    Destination created = state.destinations().find(name);
    if (created == null) {
      throw new IllegalStateException(name + " was not created");
    }
    return created;
  }

  /**
   * Creates a temporary destination of a session, or gives back the one that its link has.
   *
   * @param number as in {@link Temporaries#name}
   */
  Destination createTemporary(PeerSession session, DestinationKind kind, long number) {
    if (!kind.isTemporary()) {
      throw new Refusal(FaultCode.PROTOCOL_ERROR, kind + " is no kind of temporary destination");
    }
    long id = unloggedId();
    DestinationName name = temporaries.name(session, kind, number, id);
    long bytes = NamedHeap.of(name.name(), kind.isQueue());
    recorder.changing();
    Destination had = temporaries.back(session, name);
    if (had == null) {
      budget.take(session, "a temporary destination", bytes);
    }
    Destination created = had != null ? had : createTemporary(id, name);
    if (session.temporaries().put(name, created) == null) {
      budget.made(session, bytes);
    }
    if (number > 0) {
      session.numberedTemporary();
    }
    return created;
  }

  private Destination createTemporary(long id, DestinationName name) {
    recorder.changing();
    Destination created = state.destinations().create(id, name, DestinationSettings.DEFAULT);
    if (name.kind().isQueue()) {
      created.open(id, SubscriptionKind.QUEUE, null, null, false);
    }
    return created;
  }

  /** A session forgets a temporary destination that is deleted now. */
  void forget(PeerSession session, Destination temporary) {
    if (session.temporaries().remove(temporary.name(), temporary)) {
      budget.made(session, -NamedHeap.of(temporary.name().name(), temporary.kind().isQueue()));
      session.forgetClosed(temporary);
      settle(session);
    }
  }

  /**
   * A session ends: its temporary destinations go, or wait for its link.
   *
   * @param clean whether the client closed in order, and will not come back for them
   */
  void leaveTemporaries(PeerSession session, boolean clean) {
    Link link = session.link();
    if (link == null) {
      return;
    }
    if (clean) {
      session.temporaries().values().forEach(this::delete);
      temporaries.close(link.id()).forEach(this::delete);
    } else {
      temporaries.leave(session).forEach(this::delete);
    }
    session.temporaries().clear();
  }

  /** Deletes temporary destinations whose connection has not come back in time; some of them. */
  void deleteOverdue() {
    temporaries.overdue().forEach(this::delete);
  }

  /** Reckons what a session takes itself. */
  void settle(PeerSession session) {
    long consumers =
        (long) session.recipient().consumers().size()
            + dispatcher.browsers().count(session.recipient());
    budget.settle(
        session,
        NamedBudget.CONNECTION
            + NamedHeap.text(session.clientId())
            + NamedBudget.CONSUMER * consumers
            + (long) NamedBudget.CLOSED_CONSUMER * session.closedConsumers());
  }

  /** Deletes a destination: consumers end, messages and subscriptions are gone. */
  public void delete(Destination destination) {
    state.guard().check();
    recorder.changing();
    for (Subscription subscription : List.copyOf(destination.subscriptions())) {
      dispatcher.end(subscription, FaultCode.DESTINATION_GONE);
      forget(subscription);
    }
    if (destination.kind().isTemporary()) {
      temporaries.deleted(destination);
      state.destinations().delete(destination);
    } else {
      recorder.record(new DestinationDeleted(destination.id()));
    }
    counters.forget(destination.id());
  }

  // ---- consumers ----

  private void checkUnused(PeerSession session, int consumerId) {
    if (session.recipient().consumer(consumerId) != null
        || dispatcher.browsers().isOpen(session.recipient(), consumerId)) {
      throw new Refusal(FaultCode.PROTOCOL_ERROR, "consumer " + consumerId + " is open already");
    }
  }

  /** Opens a browser; like consumers, only its own connection has one of a temporary queue. */
  Destination browse(PeerSession session, Command.AttachConsumer command) {
    checkUnused(session, command.consumerId());
    checkKind(command, true);
    DestinationName name = TemporaryName.meant(command.destination());
    checkOwner(session, name);
    Selector selector = selector(command.selector());
    settle(session);
    budget.takeToConsume(session, "a browser");
    selectors.take(selector);
    Destination destination = resolve(name, command.mayCreate());
    recorder.changing();
    dispatcher
        .browsers()
        .open(
            session.recipient(),
            command.consumerId(),
            command.sessionId(),
            destination.queueSubscription(),
            selector);
    settle(session);
    return destination;
  }

  /** Opens a consumer, with its subscription if that is new. */
  Consumer open(PeerSession session, Command.AttachConsumer command) {
    DestinationName name = TemporaryName.meant(command.destination());
    checkUnused(session, command.consumerId());
    boolean queue = command.subscribe() == Command.Subscribe.QUEUE;
    Interest interest =
        new Interest(
            selector(command.selector()), command.noLocal(), session.peer().connectionId());
    checkKind(command, queue);
    checkOwner(session, name);
    settle(session);
    budget.takeToConsume(session, "a consumer");
    Destination destination = resolve(name, command.mayCreate());
    Subscription subscription =
        switch (command.subscribe()) {
          case QUEUE -> queue(destination, interest.selector());
          case PLAIN -> {
            long bytes = destination.subscriptionBytes(null, session.clientId());
            budget.take(session, "a subscription", bytes);
            selectors.take(interest.selector());
            recorder.changing();
            budget.made(session, NamedHeap.ofSubscription(null, session.clientId()));
            yield destination.open(
                unloggedId(), SubscriptionKind.PLAIN, session.clientId(), null, interest);
          }
          case SHARED -> shared(session, destination, command, interest);
          case DURABLE ->
              durable.open(session, destination, command, interest, SubscriptionKind.DURABLE);
          case SHARED_DURABLE ->
              durable.open(
                  session, destination, command, interest, SubscriptionKind.SHARED_DURABLE);
          case BROWSE -> throw new IllegalStateException("a browser has no subscription");
        };
    recorder.changing();
    Consumer consumer =
        dispatcher.attach(
            session.recipient(),
            command.consumerId(),
            command.sessionId(),
            subscription,
            queue ? interest.selector() : null,
            command.noAcknowledge());
    settle(session);
    return consumer;
  }

  private static void checkOwner(PeerSession session, DestinationName name) {
    if (name.kind().isTemporary() && !session.temporaries().containsKey(name)) {
      throw new Refusal(
          FaultCode.NOT_OWNER,
          "temporary destination "
              + name.shown()
              + " may be consumed and browsed by its own connection only");
    }
  }

  private Subscription queue(Destination destination, @Nullable Selector selector) {
    Subscription queue = destination.queueSubscription();
    if (selector != null && !queue.views().isOpen(selector)) {
      selectors.take(selector);
    }
    return queue;
  }

  private static @Nullable Selector selector(@Nullable String given) {
    String text = Selector.normalise(given);
    if (text == null) {
      return null;
    }
    if (!ClientText.isWellFormed(text)) {
      throw new Refusal(
          FaultCode.INVALID_SELECTOR,
          "the selector has half of a surrogate pair without the other");
    }
    try {
      return Selector.parse(text);
    } catch (InvalidSelectorException e) {
      throw new Refusal(FaultCode.INVALID_SELECTOR, String.valueOf(e.getMessage()));
    }
  }

  private static void checkKind(Command.AttachConsumer command, boolean queue) {
    DestinationName name = command.destination();
    if (queue != name.kind().isQueue()) {
      throw new Refusal(
          FaultCode.INVALID_DESTINATION,
          name.shown()
              + " is a "
              + name.kind()
              + "; it cannot be consumed as "
              + command.subscribe());
    }
  }

  static SubscriptionKey key(PeerSession session, @Nullable String name) {
    return new SubscriptionKey(
        session.clientId(),
        ClientText.name(
            FaultCode.INVALID_SUBSCRIPTION,
            "the name of a subscription",
            name == null ? "" : name));
  }

  /** A name that is about to be kept; one of an older broker is taken as it is. */
  static void checkNew(SubscriptionKey key) {
    if (hasControl(key.name())) {
      throw new Refusal(
          FaultCode.INVALID_SUBSCRIPTION,
          "a subscription's name has no control characters, this one is \""
              + Printable.of(key.name())
              + "\"");
    }
  }

  public static boolean hasControl(String name) {
    return name.chars().anyMatch(Character::isISOControl);
  }

  private Subscription shared(
      PeerSession session,
      Destination destination,
      Command.AttachConsumer command,
      Interest interest) {
    SubscriptionKey key = key(session, command.subscription());
    Subscription known = shared.get(key);
    if (known != null && !known.isClosed()) {
      if (!isSame(known, destination, interest)) {
        throw differs(known, key);
      }
      return known;
    }
    checkNew(key);
    budget.take("a subscription", destination.subscriptionBytes(key.name(), key.clientId()));
    selectors.take(interest.selector());
    recorder.changing();
    Subscription opened =
        destination.open(
            unloggedId(), SubscriptionKind.SHARED, key.clientId(), key.name(), interest);
    shared.put(key, opened);
    return opened;
  }

  /** Whether a subscription is what is asked for; section 8.3.3: the selector's text counts. */
  static boolean isSame(Subscription known, Destination destination, Interest interest) {
    Selector selector = interest.selector();
    return known.destination() == destination
        && known.noLocal() == interest.noLocal()
        && Objects.equals(known.selectorText(), selector == null ? null : selector.text());
  }

  /** A subscription of this name is another one; with consumers, it cannot give way either. */
  static Refusal differs(Subscription known, SubscriptionKey key) {
    return new Refusal(
        known.consumers() > 0 ? FaultCode.IN_USE : FaultCode.INVALID_SUBSCRIPTION,
        "subscription \""
            + Printable.of(key.name())
            + "\" exists for topic "
            + known.destination().name().shown()
            + " as "
            + known.kind()
            + (known.noLocal() ? " without local messages" : "")
            + (known.selectorText() == null
                ? " without a selector"
                : " with the selector \"" + Printable.of(known.selectorText()) + "\"")
            + " with "
            + known.consumers()
            + " consumers");
  }

  /** Closes what a connection has open; {@code seen} as in {@link #close}. */
  void closeAll(PeerSession session, boolean seen) {
    close(session, List.copyOf(session.recipient().consumers()), seen);
    dispatcher.browsers().disconnect(session.recipient());
  }

  /**
   * Closes consumers; a subscription that lives only with its consumers ends with the last.
   *
   * @param seen whether they may have seen what is in flight to them
   */
  void close(PeerSession session, Collection<Consumer> consumers, boolean seen) {
    recorder.changing();
    dispatcher.detach(consumers, seen);
    for (Consumer consumer : consumers) {
      Subscription subscription = consumer.subscription();
      if (subscription.kind().isDurable()) {
        session.consumerClosed(consumer.consumerId(), subscription);
      } else if (subscription.consumers() == 0 && !subscription.isClosed()) {
        forget(subscription);
        counters.forget(subscription.destination().id(), subscription.id());
        uncount(session, subscription);
        subscription.destination().close(subscription);
      }
    }
    settle(session);
  }

  /** A subscription that ends with its connection counts for it no more. */
  void uncount(PeerSession session, Subscription ended) {
    if (ended.kind() == SubscriptionKind.PLAIN) {
      budget.made(session, -NamedHeap.ofSubscription(null, ended.clientId()));
    }
  }

  private void forget(Subscription ended) {
    String name = ended.name();
    if (ended.kind() == SubscriptionKind.SHARED && name != null) {
      shared.remove(new SubscriptionKey(ended.clientId(), name), ended);
    }
  }
}
