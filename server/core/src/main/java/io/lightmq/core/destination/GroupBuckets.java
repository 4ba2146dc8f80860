package io.lightmq.core.destination;

import io.lightmq.core.runtime.OwnedBy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which consumer of a view owns which of its 64 group buckets. A group bucket has at most one
 * owner, who gets its messages in order; it changes hands only when nothing of it is in flight to
 * that owner any more, and gives nothing while that is awaited. So no two consumers ever have
 * messages of one key at a time, and none gets a message before those that came earlier.
 *
 * <p>Consumers take part from their first pull on. They own equally many group buckets, but for
 * one; what one has too many is taken away when another joins, first what is not in flight.
 * Otherwise owners stay, but for one that neither waits nor has anything for 10 s while another one
 * waits: it takes part again with its next pull.
 */
@OwnedBy("shard")
public final class GroupBuckets {
  /**
   * An idle consumer keeps what it owns so long: one that receives and has acknowledged may be at
   * work.
   */
  private static final long IDLE_NANOS = 10_000_000_000L;

  private static final int BUCKETS = GroupScan.BUCKETS;

  private final List<GroupLane> lanes = new ArrayList<>(2);
  private final Set<GroupOwner> members = new LinkedHashSet<>();
  private final @Nullable GroupOwner[] owners = new @Nullable GroupOwner[BUCKETS];
  private long unowned = -1L;

  /** Group buckets that leave their owner because others own less. */
  private long surplus;

  /** Group buckets that leave their owner because it has gone, or their group has ended. */
  private long ending;

  private final Subscription subscription;
  private long nextEvictionNanos = Long.MAX_VALUE;
  private boolean watching;
  private long moves;

  GroupBuckets(Subscription subscription) {
    this.subscription = subscription;
  }

  void add(GroupLane lane) {
    lanes.add(lane);
  }

  // ---- who takes part ----

  /** A consumer waits for messages, and takes part from now on. */
  public void join(GroupOwner owner) {
    subscription.guard().check();
    owner.idle = false;
    if (!owner.member) {
      owner.member = true;
      members.add(owner);
      balance();
    }
  }

  /** A consumer takes part no more; what it owns goes to others once nothing of it is in flight. */
  public void leave(GroupOwner owner) {
    subscription.guard().check();
    if (owner.member) {
      owner.member = false;
      members.remove(owner);
      ending |= owner.owned;
      surplus &= ~owner.owned;
      balance();
    }
  }

  /** Whether nobody takes part. */
  public boolean isEmpty() {
    return members.isEmpty();
  }

  /** Marks what some own too much of, and unmarks what they may keep. */
  private void balance() {
    surplus = 0;
    settle();
    int count = members.size();
    if (count == 0) {
      return;
    }
    int each = BUCKETS / count;
    int more = BUCKETS - each * count;
    for (GroupOwner member : members) {
      long kept = member.owned & ~ending;
      int most = each;
      if (Long.bitCount(kept) > each && more > 0) {
        most++;
        more--;
      }
      if (Long.bitCount(kept) > most) {
        mark(member, kept, Long.bitCount(kept) - most);
      }
    }
    settle();
  }

  private void mark(GroupOwner member, long kept, int count) {
    int left = count;
    for (long rest = kept; rest != 0 && left > 0; rest &= rest - 1) {
      int key = Long.numberOfTrailingZeros(rest);
      if (!isBusy(member, key)) {
        surplus |= 1L << key;
        left--;
      }
    }
    for (long rest = kept & ~surplus; left > 0; rest &= rest - 1, left--) {
      surplus |= rest & -rest;
    }
  }

  private boolean isBusy(GroupOwner owner, int key) {
    if ((owner.taken & (1L << key)) != 0) {
      return true;
    }
    for (GroupLane lane : lanes) {
      if (lane.isHeld(key, owner.holding())) {
        return true;
      }
    }
    return false;
  }

  /** Completes the moves of which nothing is in flight any more; whether there were any. */
  public boolean settle() {
    subscription.guard().check();
    boolean any = false;
    for (long rest = surplus | ending; rest != 0; rest &= rest - 1) {
      int key = Long.numberOfTrailingZeros(rest);
      GroupOwner owner = owners[key];
      if (owner == null || !isBusy(owner, key)) {
        release(key);
        any = true;
      }
    }
    for (long rest = members.isEmpty() ? 0 : unowned; rest != 0; rest &= rest - 1) {
      give(Long.numberOfTrailingZeros(rest));
      any = true;
    }
    return any;
  }

  private void release(int key) {
    long bit = 1L << key;
    GroupOwner owner = owners[key];
    if (owner != null) {
      owner.owned &= ~bit;
    }
    owners[key] = null;
    unowned |= bit;
    surplus &= ~bit;
    ending &= ~bit;
  }

  /** Gives a group bucket to the consumer with the fewest; of several to one that waits. */
  private void give(int key) {
    GroupOwner best = null;
    int fewest = Integer.MAX_VALUE;
    for (GroupOwner member : members) {
      int rank = 2 * Long.bitCount(member.owned & ~(surplus | ending));
      rank += member.isWaiting() ? 0 : 1;
      if (rank < fewest) {
        best = member;
        fewest = rank;
      }
    }
    if (best != null) {
      best.owned |= 1L << key;
      owners[key] = best;
      unowned &= ~(1L << key);
      moves++;
    }
  }

  /**
   * Takes away what consumers own that are idle for too long, if any of that is free.
   *
   * @param wanted whether others wait
   * @return whether there was any
   */
  public boolean evictIdle(long nowNanos, boolean wanted) {
    subscription.guard().check();
    boolean any = false;
    nextEvictionNanos = Long.MAX_VALUE;
    for (long rest = wanted ? ready() & ~held() : 0; rest != 0; rest &= rest - 1) {
      int key = Long.numberOfTrailingZeros(rest);
      GroupOwner owner = owners[key];
      if (owner == null || !owner.isIdle() || !isFree(key)) {
        continue;
      }
      if (!owner.idle) {
        owner.idle = true;
        owner.idleSinceNanos = nowNanos;
      }
      if (nowNanos - owner.idleSinceNanos >= IDLE_NANOS) {
        leave(owner);
        any = true;
      } else {
        nextEvictionNanos = Math.min(nextEvictionNanos, owner.idleSinceNanos + IDLE_NANOS);
      }
    }
    return any;
  }

  /** When {@link #evictIdle} may find something that it did not; {@code Long.MAX_VALUE} if not. */
  public long nextEvictionNanos() {
    return nextEvictionNanos;
  }

  private boolean isFree(int key) {
    for (GroupLane lane : lanes) {
      if (lane.isFree(key)) {
        return true;
      }
    }
    return false;
  }

  // ---- giving out ----

  /** Something became visible. */
  void moved() {
    for (GroupLane lane : lanes) {
      lane.moved();
    }
  }

  private long held() {
    return surplus | ending | subscription.withheldKeys();
  }

  /** The group buckets of which a consumer may get something now. */
  long giving(GroupOwner owner) {
    return owner.owned & ~held();
  }

  /**
   * Messages are taken for a consumer; the last one of a group ends its group bucket's ownership,
   * if there is anybody else: one alone need not settle it to get the next.
   */
  void taken(GroupLane lane, GroupOwner owner, long from, int count) {
    for (long at = Math.max(from, lane.since()); at < from + count; at++) {
      int key = lane.key(at);
      if (key >= 0) {
        owner.taken |= 1L << key;
        ending |= members.size() > 1 && lane.isLast(at) ? 1L << key : 0;
      }
    }
  }

  /** Group buckets in which something may be free. */
  private long ready() {
    long ready = 0;
    for (GroupLane lane : lanes) {
      ready |= lane.ready();
    }
    return ready;
  }

  /** The owners of group buckets in which something may be free. */
  public List<GroupOwner> readyOwners() {
    subscription.guard().check();
    List<GroupOwner> found = new ArrayList<>();
    long rest = ready() & ~held() & ~unowned;
    while (rest != 0) {
      GroupOwner owner = owners[Long.numberOfTrailingZeros(rest)];
      if (owner == null) {
        throw new IllegalStateException("an owned group bucket has no owner");
      }
      found.add(owner);
      rest &= ~owner.owned;
    }
    return found;
  }

  /** Whether a message without a key may be free. */
  public boolean isLooseReady() {
    boolean any = false;
    for (GroupLane lane : lanes) {
      any |= lane.isLooseReady();
    }
    return any && !subscription.isLooseWithheld();
  }

  /** How many messages a consumer should get at most, of so many that wait. */
  public long share(GroupOwner owner, int waiting) {
    subscription.guard().check();
    long own = 0;
    long loose = 0;
    long keys = giving(owner);
    for (GroupLane lane : lanes) {
      own += lane.known(keys);
      loose += lane.isLooseReady() ? lane.knownLoose() : 0;
    }
    return own + (loose + waiting - 1) / waiting;
  }

  // ---- what is awaited ----

  /**
   * Notes whether a consumer waits for what is in flight, so that it is told when that ends.
   *
   * @param full whether the view looks for more only once something is settled
   */
  public void watch(boolean waits, boolean full) {
    subscription.guard().check();
    watching = waits && (full || (ready() & ~unowned) != 0);
  }

  /** Whether something has to be given out when anything is settled. */
  boolean isWatching() {
    return watching || (surplus | ending) != 0;
  }

  /** How the group buckets are spread. */
  GroupUse use(@Nullable String selector) {
    List<Integer> owned = members.stream().map(each -> Long.bitCount(each.owned)).toList();
    return new GroupUse(selector, owned, moving(), moves);
  }

  /** What has ended with its owner stays marked until somebody comes, but waits for nothing. */
  private int moving() {
    int count = 0;
    for (long rest = surplus | ending; rest != 0; rest &= rest - 1) {
      int key = Long.numberOfTrailingZeros(rest);
      GroupOwner owner = owners[key];
      count += owner != null && isBusy(owner, key) ? 1 : 0;
    }
    return count;
  }

  /** Forgets who owns what: the subscription has ended. */
  void clear() {
    for (GroupOwner member : members) {
      member.member = false;
      member.owned = 0;
    }
    members.clear();
    Arrays.fill(owners, null);
    unowned = -1L;
    surplus = 0;
    ending = 0;
  }
}
