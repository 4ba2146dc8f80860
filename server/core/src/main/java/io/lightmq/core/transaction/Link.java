package io.lightmq.core.transaction;

import io.lightmq.core.record.FieldReader;
import io.lightmq.core.record.FieldWriter;
import io.lightmq.core.record.MalformedRecordException;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one client link: the highest number taken and the refusals among those that the
 * client may still ask for. Link epoch and time of use are not durable: after a start there is no
 * older connection to shut out.
 */
@OwnedBy("shard")
public final class Link {
  /** The most refusals kept; at it the client has to attach again, which says what it knows. */
  public static final int MAX_OUTCOMES = 1024;

  /** What to do with a number. */
  public enum Verdict {
    /** It is the next: decide it. */
    TAKE,
    /** It was taken before: answer {@link Link#outcome} or, without one, that it is done. */
    REPEAT,
    /** Numbers before it have not come yet. */
    EARLY
  }

  /** An attach raises the link epoch by so much at most, which many years of losses don't. */
  public static final long MAX_EPOCH_JUMP = 1_000_000;

  /** An attach raises the highest number taken by so much at most, where that is known exactly. */
  public static final long MAX_NUMBER_JUMP = 65_536;

  private final Guard guard;
  private final UUID id;
  private final TreeMap<Long, Outcome> outcomes = new TreeMap<>();
  private @Nullable String owner;
  private long outcomeBytes;
  private long last;

  /** The highest number that a record says is taken, or that the snapshot had. */
  private long recorded;

  /** The link epoch of the attach that made it. */
  private final long since;

  /** The highest link epoch of any attach. */
  private long newestEpoch;

  /** That of the newest attach to this process; not durable. */
  private long epoch;

  private boolean exact = true;
  private long lastUsedMillis;
  private long slice;
  private boolean closed;

  Link(UUID id, long since, Guard guard) {
    this.guard = guard;
    this.id = id;
    this.since = since;
  }

  /** The link's id. */
  public UUID id() {
    return id;
  }

  /** The user who made it; null where that is not known, as in stores of before. */
  public @Nullable String owner() {
    return owner;
  }

  /** Says who made it. */
  void owner(@Nullable String user) {
    owner = user;
  }

  /**
   * The link epoch in which the broker began to know it; 0 for a link of a store of before. What
   * was sent in an epoch below may be stored or not.
   */
  public long since() {
    return since;
  }

  /** The highest number taken. */
  public long last() {
    return last;
  }

  /** The epoch of the newest connection that attached; older ones are shut out. */
  public long epoch() {
    return epoch;
  }

  /** A connection of this link attaches. */
  public void enterEpoch(long newEpoch) {
    guard.check();
    epoch = newEpoch;
    exact = true;
  }

  /** Whether an attach jumps to a link epoch that no client of this link can have reached. */
  public boolean isBeyond(long newEpoch) {
    return newestEpoch > 0 && newEpoch - newestEpoch > MAX_EPOCH_JUMP;
  }

  /**
   * Whether an attach says that numbers are done of which the broker knows that they are not.
   * Numbers of runs that are in no record, or in one that a power cut has taken, are forgotten with
   * the process: then only the client knows them.
   */
  public boolean isAhead(long answersFrom) {
    return exact && answersFrom - last > MAX_NUMBER_JUMP;
  }

  /** The process has started: whether the numbers are all that were taken before. */
  void started(boolean clean) {
    exact = clean;
  }

  /** When it was last used, by the broker's clock; not durable. */
  public long lastUsedMillis() {
    return lastUsedMillis;
  }

  /** Remembers a use. */
  public void used(long nowMillis) {
    guard.check();
    lastUsedMillis = nowMillis;
  }

  /** What to do with a number above 0. */
  public Verdict judge(long number) {
    if (number <= last) {
      return Verdict.REPEAT;
    }
    return number == last + 1 ? Verdict.TAKE : Verdict.EARLY;
  }

  /** The refusal of a number, or null if it ended well. */
  public @Nullable Outcome outcome(long number) {
    return outcomes.get(number);
  }

  /** The kept refusals in order of their numbers. */
  public List<Outcome> outcomes() {
    return new ArrayList<>(outcomes.values());
  }

  /** Whether it was closed, so that the broker knows nothing of it any more. */
  public boolean isClosed() {
    return closed;
  }

  void close() {
    closed = true;
  }

  /** How many refusals are kept. */
  public int outcomeCount() {
    return outcomes.size();
  }

  /** Whether no more refusals can be kept. */
  public boolean full() {
    return outcomes.size() >= MAX_OUTCOMES;
  }

  /**
   * Spends a number, as a record says. Numbers between were taken by runs without a record, whose
   * messages are in unlogged lanes.
   */
  void take(long number) {
    takeUnlogged(number);
    recorded = Math.max(recorded, number);
  }

  /** Spends the number of a run that is in no record. */
  void takeUnlogged(long number) {
    last = Math.max(last, number);
  }

  /** The highest number taken of which records tell; the others go with the process. */
  long recorded() {
    return recorded;
  }

  /** The highest link epoch of any attach. */
  long newestEpoch() {
    return newestEpoch;
  }

  void refuse(Outcome outcome) {
    take(outcome.number());
    Outcome before = outcomes.put(outcome.number(), outcome);
    outcomeBytes += Links.heapBytes(outcome.text());
    if (before != null) {
      outcomeBytes -= Links.heapBytes(before.text());
    }
  }

  /** The heap that the kept refusals take. */
  long outcomeBytes() {
    return outcomeBytes;
  }

  void attach(long answersFrom, long newEpoch) {
    take(answersFrom - 1);
    newestEpoch = Math.max(newestEpoch, newEpoch);
    outcomes
        .headMap(answersFrom, false)
        .values()
        .removeIf(
            outcome -> {
              outcomeBytes -= Links.heapBytes(outcome.text());
              return true;
            });
  }

  long slice() {
    return slice;
  }

  void encoded(long inSlice) {
    slice = inSlice;
  }

  void encode(FieldWriter out) {
    out.putUuid(id);
    out.putVarint(last);
    out.putString(owner);
    out.putVarint(newestEpoch);
    out.putVarint(since);
    out.putVarint(outcomes.size());
    for (Outcome outcome : outcomes.values()) {
      out.putVarint(outcome.number());
      out.putVarint(outcome.code().code());
      out.putString(outcome.text());
    }
  }

  static Link decode(FieldReader in, int version, Guard guard) {
    UUID id = in.readUuid();
    long last = in.readVarint();
    String owner = version >= 4 ? in.readNullableString() : null;
    long newestEpoch = version >= 4 ? in.readVarint() : 0;
    Link link = new Link(id, version >= 4 ? in.readVarint() : 0, guard);
    link.take(last);
    link.owner = owner;
    link.newestEpoch = newestEpoch;
    int count = in.readCount(MAX_OUTCOMES, 3);
    for (int i = 0; i < count; i++) {
      long number = in.readVarint();
      FaultCode code = FaultCode.of((int) Math.min(in.readVarint(), Integer.MAX_VALUE));
      Outcome outcome = new Outcome(number, code, in.readString());
      link.outcomes.put(number, outcome);
      link.outcomeBytes += Links.heapBytes(outcome.text());
    }
    if (!link.outcomes.isEmpty() && link.outcomes.lastKey() > link.last) {
      throw new MalformedRecordException(
          "link " + link.id + " has outcome " + link.outcomes.lastKey() + " above " + link.last);
    }
    return link;
  }
}
