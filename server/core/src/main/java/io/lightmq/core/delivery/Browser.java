package io.lightmq.core.delivery;

import io.lightmq.core.destination.Look;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.selector.Work;
import org.jspecify.annotations.Nullable;

/** One open look of a connection at a queue, with the pull that it has open. */
@OwnedBy("shard")
final class Browser {
  /** Never attached to a subscription: it lends connection, ids and pull to what reads for it. */
  final Consumer consumer;

  final Look look;

  /** Which messages it wants; null for all. */
  final Selector.@Nullable Evaluator wanted;

  final @Nullable Selector selector;

  boolean closed;

  Browser(Consumer consumer, Look look, @Nullable Selector selector) {
    this.consumer = consumer;
    this.look = look;
    this.wanted = selector == null ? null : selector.evaluator();
    this.selector = selector;
  }

  int selectorChars() {
    return selector == null ? 0 : selector.text().length();
  }

  /** Whether its selector takes too long on the shard for so many messages of so many bytes. */
  boolean isLong(int messages, long bytes) {
    return selector != null && selector.steps(messages, bytes) > Work.SLICE;
  }
}
