package io.lightmq.core.shard;

import io.lightmq.core.delivery.Consumer;
import io.lightmq.core.delivery.Damage;
import io.lightmq.core.delivery.Decisions;
import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.moves.MoveRecords;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.Sessions;
import io.lightmq.core.state.Admission;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Stands for those parts of an {@link Owner} that are made last, for those that are made before and
 * need them.
 */
@OwnedBy("shard")
final class Later implements Decisions, Admission, MoveRecords.ClientIds {
  @Nullable ShardRunner runner;
  @Nullable Appending appending;
  @Nullable DeliveryDecisions decisions;
  @Nullable Sessions sessions;

  private ShardRunner runner() {
    ShardRunner made = runner;
    if (made == null) {
      throw new IllegalStateException("the owner is not put together yet");
    }
    return made;
  }

  private Appending appending() {
    Appending made = appending;
    if (made == null) {
      throw new IllegalStateException("the owner is not put together yet");
    }
    return made;
  }

  private DeliveryDecisions decisions() {
    DeliveryDecisions made = decisions;
    if (made == null) {
      throw new IllegalStateException("the owner is not put together yet");
    }
    return made;
  }

  @Override
  public @Nullable String clientId(long connectionId) {
    return sessions == null ? null : sessions.clientId(connectionId);
  }

  void wake() {
    runner().wakeSoon();
  }

  void lookAgain() {
    runner().lookAgain();
  }

  @Override
  public boolean admit(long bytes, boolean publishes) {
    return appending().admit(bytes, publishes);
  }

  @Override
  public boolean admitSent(long bytes, boolean publishes) {
    return appending().admitSent(bytes, publishes);
  }

  @Override
  public void touch(Subscription subscription, int lane, long from, int count) {
    decisions().touch(subscription, lane, from, count);
  }

  @Override
  public void giveUp(Subscription subscription, int lane, long from, int count, Reason reason) {
    decisions().giveUp(subscription, lane, from, count, reason);
  }

  @Override
  public void consume(Consumer consumer, List<SequenceRange> ranges) {
    decisions().consume(consumer, ranges);
  }

  @Override
  public void goOnLater(Subscription subscription) {
    decisions().goOnLater(subscription);
  }

  @Override
  public boolean setAside(Subscription subscription, Lane lane, Damage damage) {
    return decisions().setAside(subscription, lane, damage);
  }

  @Override
  public void unreadable(Subscription subscription, IOException cause) {
    decisions().unreadable(subscription, cause);
  }
}
