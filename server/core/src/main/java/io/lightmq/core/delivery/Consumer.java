package io.lightmq.core.delivery;

import io.lightmq.core.destination.Holding;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.destination.View;
import io.lightmq.core.runtime.OwnedBy;
import org.jspecify.annotations.Nullable;

/** One consumer of a connection, with what it holds and its open pull. */
@OwnedBy("shard")
public final class Consumer {
  private final Recipient recipient;
  private final int consumerId;
  private final int sessionId;
  private final Subscription subscription;
  private final View view;
  private final Holding holding;
  private final boolean noAcknowledge;

  // The open pull.
  boolean open;
  boolean fetching;
  int pullId;
  int messages;
  int bytes;
  long deadlineNanos;
  boolean answerNow;
  boolean attached = true;

  /** What is acknowledged, and sent once that has its mark; the consumer is fetching until then. */
  Outlet.@Nullable Batch pending;

  // Links in the one list of pulls and in the one bucket that it is in.
  @Nullable PullList list;
  @Nullable Consumer listBefore;
  @Nullable Consumer listAfter;
  int bucket = -1;
  @Nullable Consumer bucketBefore;
  @Nullable Consumer bucketAfter;

  Consumer(
      Recipient recipient,
      int consumerId,
      int sessionId,
      View view,
      boolean noAcknowledge) {
    this.recipient = recipient;
    this.consumerId = consumerId;
    this.sessionId = sessionId;
    this.subscription = view.subscription();
    this.view = view;
    this.holding = subscription.newHolding();
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

  /** What is in flight to it. */
  public Holding holding() {
    return holding;
  }
}
