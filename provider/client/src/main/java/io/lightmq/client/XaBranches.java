package io.lightmq.client;

import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.xa.XaBranch;
import io.lightmq.client.xa.XaFailures;
import io.lightmq.wire.entry.Xid;
import java.util.HashMap;
import java.util.Map;
import javax.transaction.xa.XAException;
import org.jspecify.annotations.Nullable;

/**
 * The branches that this process works in, of all connections: a resource may join what another one
 * has begun, if both belong to one user of one broker. At most {@value #MAX_BRANCHES}; those that
 * are prepared and only wait for their decision make way first. Any thread.
 */
final class XaBranches {
  static final int MAX_BRANCHES = 10_000;

  /** Those of this process. */
  static final XaBranches ALL = new XaBranches();

  private record Key(BrokerLink.Owner owner, Xid xid) {}

  private final Map<Key, BranchWork> branches = new HashMap<>();

  /** The branch of that name; null if this process does not work in it. */
  synchronized @Nullable BranchWork find(BrokerLink.Owner owner, Xid xid) {
    return branches.get(new Key(owner, xid));
  }

  /** Begins a branch. */
  synchronized BranchWork begin(LightmqXaResource first, BrokerLink.Owner owner, Xid xid)
      throws XAException {
    Key key = new Key(owner, xid);
    if (branches.containsKey(key)) {
      throw XaFailures.of(XAException.XAER_DUPID, "start: " + xid + " is there already");
    }
    if (branches.size() >= MAX_BRANCHES) {
      branches.values().removeIf(branch -> branch.state() != XaBranch.State.OPEN);
    }
    if (branches.size() >= MAX_BRANCHES) {
      throw XaFailures.of(
          XAException.XAER_RMERR,
          "start: this process has "
              + branches.size()
              + " branches that are neither prepared nor ended, the limit is "
              + MAX_BRANCHES);
    }
    BranchWork begun = new BranchWork(first, owner, xid);
    branches.put(key, begun);
    return begun;
  }

  /** The branch has ended. */
  synchronized void remove(BranchWork ended) {
    branches.remove(new Key(ended.owner(), ended.xid()), ended);
  }
}
