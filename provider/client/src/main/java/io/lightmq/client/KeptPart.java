package io.lightmq.client;

import io.lightmq.client.link.BrokerLink;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.Branch;
import jakarta.jms.JMSException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the broker keeps of a transaction: by which name, and which one of that name. All sessions
 * that work in the transaction share it, and stage one after the other. Any thread.
 */
final class KeptPart {
  private final Supplier<Branch> names;
  private @Nullable Branch name;
  private long id;

  /** Of a transaction that gets its name when the first part is staged. */
  KeptPart(Supplier<Branch> names) {
    this.names = names;
  }

  /** Of a local transaction. */
  static KeptPart local(BrokerLink link) {
    return new KeptPart(() -> new Branch.Local(link.nextTransaction()));
  }

  /** What is kept; null if nothing is. */
  synchronized Frame.@Nullable Part part() {
    return name == null || id == 0 ? null : new Frame.Part(name, id);
  }

  /**
   * Has the broker keep more of it; waits for that.
   *
   * @param closing whether the session is being closed: then an interrupt does not end the wait
   */
  synchronized void stage(
      BrokerLink link,
      int sessionId,
      List<BrokerLink.Staged> sends,
      List<Frame.Acked> acked,
      BooleanSupplier stale,
      boolean closing)
      throws JMSException {
    Branch named = name == null ? names.get() : name;
    name = named;
    String what = "sending " + sends.size() + " messages of a transaction ahead";
    CompletableFuture<Long> answer =
        link.stage(sessionId, sends, acked, stale, new Frame.Part(named, id));
    id = closing ? Awaiting.answerWhenClosing(answer, what) : Awaiting.answer(answer, what);
  }

  /**
   * The broker drops what it keeps. Also what it may have without having said so: an answer may
   * have been lost.
   *
   * @param attempted whether an attempt of what was acknowledged in it has failed
   */
  synchronized void abandon(BrokerLink link, boolean attempted) throws JMSException {
    Branch named = name;
    if (named != null) {
      Awaiting.answer(link.abandon(named, attempted), "rolling back a transaction");
      name = null;
      id = 0;
    }
  }

  /** As {@link #abandon}, for the last time and without waiting. */
  synchronized void abandonLast(BrokerLink link, boolean attempted) {
    if (name != null) {
      var unused = link.abandon(name, attempted);
    }
  }
}
