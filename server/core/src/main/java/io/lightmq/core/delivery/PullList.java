package io.lightmq.core.delivery;

import io.lightmq.core.runtime.OwnedBy;
import org.jspecify.annotations.Nullable;

/** Consumers with an open pull, in order of arrival; a consumer is in one list at most. */
@OwnedBy("shard")
final class PullList {
  private @Nullable Consumer first;
  private @Nullable Consumer last;
  private int size;

  @Nullable Consumer first() {
    return first;
  }

  int size() {
    return size;
  }

  void add(Consumer consumer) {
    leave(consumer);
    consumer.list = this;
    consumer.listBefore = last;
    if (last == null) {
      first = consumer;
    } else {
      last.listAfter = consumer;
    }
    last = consumer;
    size++;
  }

  /** Takes a consumer out of the list that it is in, if any. */
  static void leave(Consumer consumer) {
    PullList list = consumer.list;
    if (list == null) {
      return;
    }
    Consumer before = consumer.listBefore;
    Consumer after = consumer.listAfter;
    if (before == null) {
      list.first = after;
    } else {
      before.listAfter = after;
    }
    if (after == null) {
      list.last = before;
    } else {
      after.listBefore = before;
    }
    consumer.list = null;
    consumer.listBefore = null;
    consumer.listAfter = null;
    list.size--;
  }
}
