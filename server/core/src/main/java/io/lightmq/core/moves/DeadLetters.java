package io.lightmq.core.moves;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.ClientText;
import io.lightmq.core.sessions.GivingUp;
import io.lightmq.core.sessions.LastConsumer;
import io.lightmq.core.sessions.Subscribing;
import io.lightmq.core.sessions.Target;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.TurnTime;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageEdit;
import io.lightmq.wire.entry.Printable;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides where messages go that failed too often or have expired, and writes on them why: the
 * properties {@code JMS_LightMQ_Origin}, {@code _OriginKind}, {@code _Subscription}, {@code
 * _SubscriptionClientId}, {@code _Reason}, {@code _Attempts}, {@code _Time}, and what is known of
 * the last consumer.
 */
@OwnedBy("shard")
public final class DeadLetters implements GivingUp {
  private static final Logger log = LoggerFactory.getLogger(DeadLetters.class);

  public static final String ORIGIN = MessageEdit.PREFIX + "Origin";
  public static final String ORIGIN_KIND = MessageEdit.PREFIX + "OriginKind";
  public static final String SUBSCRIPTION = MessageEdit.PREFIX + "Subscription";
  static final String SUBSCRIPTION_CLIENT_ID = MessageEdit.PREFIX + "SubscriptionClientId";
  public static final String REASON = MessageEdit.PREFIX + "Reason";
  public static final String ATTEMPTS = MessageEdit.PREFIX + "Attempts";
  static final String TIME = MessageEdit.PREFIX + "Time";
  static final String CONSUMER_USER = MessageEdit.PREFIX + "ConsumerUser";
  static final String CONSUMER_CLIENT_ID = MessageEdit.PREFIX + "ConsumerClientId";
  static final String CONSUMER_CONNECTION = MessageEdit.PREFIX + "ConsumerConnection";
  public static final String EXCEPTION = MessageEdit.PREFIX + "Exception";

  static final String MAX_ATTEMPTS = "max-attempts";
  static final String EXPIRED = "expired";

  private final Mover mover;
  private final Subscribing subscribing;
  private final Counters counters;
  private final TurnTime time;
  private final int longestMessage;
  private final Exhausted exhausted = new Exhausted(null);
  private final Expired expired = new Expired();

  public DeadLetters(
      Mover mover, Subscribing subscribing, Counters counters, TurnTime time, int longestMessage) {
    this.mover = mover;
    this.subscribing = subscribing;
    this.counters = counters;
    this.time = time;
    this.longestMessage = longestMessage;
  }

  /** If very many wait, a message moves without a word on who had it last. */
  @Override
  public void exhausted(
      Subscription from, int lane, long first, int count, @Nullable LastConsumer last) {
    mover.guard().check();
    if (last == null || !mover.offerTaken(from, lane, first, new Exhausted(last))) {
      mover.offerRange(from, lane, first, count, exhausted);
    }
  }

  /** Messages that are in flight to nobody have expired, and their destination wants them kept. */
  public void expired(Subscription from, int lane, long first, int count) {
    mover.guard().check();
    mover.offerRange(from, lane, first, count, expired);
  }

  /** Whether what expires there goes anywhere. */
  public static boolean keepsExpired(Subscription from) {
    return expiry(from.destination()) != null;
  }

  /** The queue of what expires there, null if it is dropped: also where a queue names itself. */
  private static @Nullable String expiry(Destination destination) {
    String expiry = destination.settings().expiry();
    boolean itself =
        destination.kind() == DestinationKind.QUEUE && destination.name().name().equals(expiry);
    return itself ? null : expiry;
  }

  /** Where a delayed message goes that expired before it was due. */
  Mover.Goal expiredBefore(Destination origin, ByteBuffer entry) {
    Map<String, @Nullable Object> facts = new LinkedHashMap<>();
    facts.put(ORIGIN, origin.name().name());
    facts.put(ORIGIN_KIND, origin.kind().isQueue() ? "queue" : "topic");
    facts.put(REASON, EXPIRED);
    facts.put(ATTEMPTS, 0);
    facts.put(TIME, time.millis());
    return goal(expiry(origin), entry, facts, Reason.EXPIRED);
  }

  private Map<String, @Nullable Object> facts(Subscription from, String reason, int attempts) {
    Map<String, @Nullable Object> facts = new LinkedHashMap<>();
    facts.put(ORIGIN, from.destination().name().name());
    facts.put(ORIGIN_KIND, from.destination().kind().isQueue() ? "queue" : "topic");
    if (from.name() != null) {
      facts.put(SUBSCRIPTION, from.name());
    }
    if (from.name() != null && from.clientId() != null) {
      facts.put(SUBSCRIPTION_CLIENT_ID, from.clientId());
    }
    facts.put(REASON, reason);
    facts.put(ATTEMPTS, attempts);
    facts.put(TIME, time.millis());
    return facts;
  }

  private Mover.Goal goal(
      @Nullable String queue,
      ByteBuffer entry,
      Map<String, @Nullable Object> facts,
      Reason reason) {
    if (queue == null) {
      return Mover.Goal.nowhere(reason);
    }
    Target to = subscribing.target(ClientText.destination(DestinationKind.QUEUE, queue), true);
    int at = Entry.messageOffset(entry, 0);
    int bytes = Entry.messageBytes(entry, 0);
    ByteBuffer message = entry.slice(at, bytes);
    try {
      ByteBuffer edited = MessageEdit.withProperties(entry, at, bytes, facts, 0);
      if (edited.remaining() > longestMessage) {
        edited = MessageEdit.withProperties(entry, at, bytes, Map.of(), 0);
      }
      message = edited.remaining() > longestMessage ? message : edited;
    } catch (MalformedMessageException e) {
      log.warn(
          "A message for {} is damaged and is moved as it is, without the reason on it: {}",
          Printable.of(queue),
          e.getMessage());
    }
    return new Mover.Goal(to, message, 0, reason);
  }

  private final class Exhausted implements Mover.Errand {
    private final @Nullable LastConsumer last;

    Exhausted(@Nullable LastConsumer last) {
      this.last = last;
    }

    @Override
    public String what() {
      return "dead letters";
    }

    @Override
    public Mover.@Nullable Goal decide(
        Subscription from, int lane, long sequence, ByteBuffer entry) {
      if (!from.isExhausted(lane, sequence)) {
        return null; // its settings have changed meanwhile
      }
      int attempts = from.attempts(lane, sequence);
      Map<String, @Nullable Object> facts = facts(from, MAX_ATTEMPTS, attempts);
      if (last != null) {
        facts.put(CONSUMER_USER, last.user());
        facts.put(CONSUMER_CONNECTION, last.connectionId());
        if (last.clientId() != null) {
          facts.put(CONSUMER_CLIENT_ID, last.clientId());
        }
        if (last.exception() != null) {
          facts.put(EXCEPTION, last.exception());
        }
      }
      return goal(from.destination().settings().deadLetter(), entry, facts, Reason.MOVED)
          .after(attempts);
    }

    @Override
    public void done(Subscription from, int lane, long sequence, Mover.Goal goal) {
      counters.deadLettered(from.destination().id(), from.id());
      DestinationSettings settings = from.destination().settings();
      Target to = goal.to();
      log.warn(
          "A message of {} is a dead letter after {} attempts (max-attempts = {}, redelivery-delay"
              + " = {}) and {}; last consumer {}, exception {}",
          from.destination().name().shown(),
          goal.attempts(),
          settings.maxAttempts(),
          settings.redelivery(),
          to == null ? "is dropped, as dead-letter = none says" : "goes to " + to.name().shown(),
          last == null ? "unknown" : Printable.of(last.user()) + "@" + last.connectionId(),
          last == null || last.exception() == null ? "unknown" : Printable.of(last.exception()));
    }
  }

  private final class Expired implements Mover.Errand {
    @Override
    public String what() {
      return "expired";
    }

    @Override
    public Mover.Goal decide(Subscription from, int lane, long sequence, ByteBuffer entry) {
      return goal(
          expiry(from.destination()),
          entry,
          facts(from, EXPIRED, from.attempts(lane, sequence)),
          Reason.EXPIRED);
    }

    @Override
    public void done(Subscription from, int lane, long sequence, Mover.Goal goal) {
      counters.expired(from.destination().id(), from.id(), 1);
    }
  }
}
