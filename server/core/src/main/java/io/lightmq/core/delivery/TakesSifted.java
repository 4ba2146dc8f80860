package io.lightmq.core.delivery;

import io.lightmq.core.destination.Lane;
import io.lightmq.core.destination.View;
import io.lightmq.core.runtime.OwnedBy;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;

/** Takes up for the dispatcher what became of the looks at views. */
@OwnedBy("shard")
final class TakesSifted implements Sifter.Taker {
  private final Decisions decisions;
  private final Consumer<View> dispatch;
  private final ObjIntConsumer<View> retryLater;

  TakesSifted(Decisions decisions, Consumer<View> dispatch, ObjIntConsumer<View> retryLater) {
    this.decisions = decisions;
    this.dispatch = dispatch;
    this.retryLater = retryLater;
  }

  @Override
  public void sifted(View view) {
    dispatch.accept(view);
  }

  @Override
  public boolean damaged(View view, Lane lane, Damage damage) {
    return decisions.setAside(view.subscription(), lane, damage);
  }

  @Override
  public void failed(View view, IOException failure) {
    decisions.unreadable(view.subscription(), failure);
    retryLater.accept(view, Dispatcher.UNREADABLE_RETRY_MILLIS);
  }

  @Override
  public void busy(View view) {
    retryLater.accept(view, Dispatcher.RETRY_MILLIS);
  }
}
