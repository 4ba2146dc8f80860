package io.lightmq.client;

import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.LinkStatus;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The link of a closed connection that has part in branches which are not prepared: the broker
 * drops them with the link, and their transaction manager is to decide them. So it stays until they
 * have ended, but no longer than {@value #MAX_MILLIS} ms. There are at most as many of these as
 * branches in {@link XaBranches}.
 */
final class Lingering {
  static final long MAX_MILLIS = 300_000;

  private final AtomicReference<@Nullable BrokerLink> link;
  private final AtomicInteger open;

  private Lingering(BrokerLink link, int branches) {
    this.link = new AtomicReference<>(link);
    this.open = new AtomicInteger(branches);
  }

  /** Closes a link, now or when these branches have ended. */
  static void close(BrokerLink link, Collection<BranchWork> branches) {
    if (branches.isEmpty() || link.status().phase() == LinkStatus.Phase.ENDED) {
      link.close();
      return;
    }
    Lingering lingering = new Lingering(link, branches.size());
    link.later(MAX_MILLIS, lingering::expire);
    branches.forEach(branch -> branch.whenEnded(lingering::ended));
  }

  private void ended() {
    if (open.decrementAndGet() == 0) {
      close();
    }
  }

  private void close() {
    BrokerLink last = link.getAndSet(null);
    if (last != null) {
      last.close();
    }
  }

  /** On the link's loop, which the close waits for. */
  private void expire() {
    if (link.get() != null) {
      Thread closer = new Thread(this::close, "connection-lingering");
      closer.setDaemon(true);
      closer.start();
    }
  }
}
