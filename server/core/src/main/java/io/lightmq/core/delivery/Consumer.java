package io.lightmq.core.delivery;

import io.lightmq.core.destination.GroupOwner;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.View;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One consumer of a connection, with what it holds and its open pull. */
@OwnedBy("shard")
public final class Consumer extends GroupOwner {
  private final Recipient recipient;
  private final int consumerId;
  private final int sessionId;
  private final Subscription subscription;
  private final View view;
  private final boolean noAcknowledge;

  // The open pull.
  boolean open;
  boolean fetching;
  int pullId;
  int messages;
  int bytes;
  long deadlineNanos;
  boolean answerNow;

  /** Whether it got nothing only because a block's Touched record is not durable. */
  boolean waitsForTouch;

  boolean attached = true;

  /** Whether it has gone from its view before what was on the way to it. */
  boolean closesView;

  /** What is being read for it from files; null if nothing is. */
  @Nullable Fetch fetch;

  /** What is acknowledged, and sent once that has its mark; the consumer is fetching until then. */
  Outlet.@Nullable Batch pending;

  // Links in the one list of pulls and in the one bucket that it is in.
  @Nullable PullList list;
  @Nullable Consumer listBefore;
  @Nullable Consumer listAfter;
  int bucket = -1;
  @Nullable Consumer bucketBefore;
  @Nullable Consumer bucketAfter;

  Consumer(Recipient recipient, int consumerId, int sessionId, View view, boolean noAcknowledge) {
    super(view.subscription());
    this.recipient = recipient;
    this.consumerId = consumerId;
    this.sessionId = sessionId;
    this.subscription = view.subscription();
    this.view = view;
    this.noAcknowledge = noAcknowledge;
  }

  /** Its connection. */
  public Recipient recipient() {
    return recipient;
  }

  /** Its id within the connection. */
  public int consumerId() {
    return consumerId;
  }

  /** The session that it belongs to. */
  public int sessionId() {
    return sessionId;
  }

  /** What it consumes. */
  public Subscription subscription() {
    return subscription;
  }

  /** The view that it reads, which all consumers with its selector share. */
  public View view() {
    return view;
  }

  /** Whether it is open. */
  public boolean isAttached() {
    return attached;
  }

  /** Whether what it gets is acknowledged before it is sent. */
  public boolean noAcknowledge() {
    return noAcknowledge;
  }

  /** A message that is in flight to it, and its place among all that its connection was given. */
  public record Oldest(long order, SequenceRange range) {}

  /** What was given to it, in that order; what is settled is dropped when it has doubled. */
  private record Given(long order, SequenceRange range) {}

  private ArrayDeque<Given> given = new ArrayDeque<>();
  private int tidyAt = 64;

  /** Consecutive messages were given to it. */
  void given(int lane, long from, int count) {
    given.add(new Given(recipient.nextOrder(), new SequenceRange(lane, from, count)));
    if (given.size() >= tidyAt) {
      given.removeIf(each -> holding().mine(List.of(each.range())).isEmpty());
      tidyAt = Math.max(64, 2 * given.size());
    }
  }

  /** What it was given first of all that is still in flight to it; null if nothing is. */
  public @Nullable Oldest oldest() {
    while (!given.isEmpty()) {
      Given first = given.element();
      List<SequenceRange> left = holding().mine(List.of(first.range()));
      if (!left.isEmpty()) {
        SequenceRange range = left.get(0);
        return new Oldest(first.order(), new SequenceRange(range.lane(), range.from(), 1));
      }
      given.remove();
    }
    return null;
  }

  @Override
  protected boolean isWaiting() {
    return open && !fetching;
  }

  @Override
  protected boolean isIdle() {
    return !open && !fetching && holding().size() == 0;
  }
}
