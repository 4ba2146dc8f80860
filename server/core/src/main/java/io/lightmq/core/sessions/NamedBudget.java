package io.lightmq.core.sessions;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.transaction.Link;
import io.lightmq.core.transaction.Links;
import io.lightmq.wire.entry.FaultCode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one budget of heap for all that clients can name or leave behind: destinations with their
 * lanes, subscriptions, consumers, connections with their client ids, links and the refusals kept
 * for them. What would go beyond it is refused with figures.
 *
 * <p>Of the last eighth the first half is for connections and for consumers of what is there, so
 * that whoever fills the rest keeps nobody from draining it. The second half is for links that come
 * back and for who manages the broker, who can delete. Kept refusals take an eighth at most, half
 * of that for one user. What one connection makes that ends with it may take a quarter of all.
 *
 * <p>What is there at the start stays, also if it is more than a smaller heap would have taken in;
 * nothing more is taken then.
 */
@OwnedBy("shard")
public final class NamedBudget {
  private static final Logger log = LoggerFactory.getLogger(NamedBudget.class);

  /** What a connection takes, a little more than measured; its client id comes on top. */
  public static final int CONNECTION = 1_408;

  /** What a consumer or a browser takes besides its subscription. */
  public static final int CONSUMER = 576;

  /** What it takes to remember a closed consumer. */
  public static final int CLOSED_CONSUMER = 128;

  private static final int RESERVE = 8;
  private static final int LAST = 16;
  private static final int SHARE_OF_CONNECTION = 4;

  private final ShardState state;
  private final long limit;
  private long sessions;
  private long refused;

  public NamedBudget(ShardState state, long limit) {
    this.state = state;
    this.limit = limit;
  }

  /** What all of it may take. */
  public long limit() {
    return limit;
  }

  /** What all of it takes now. */
  public long used() {
    return state.destinations().named().bytes() + state.links().heapBytes() + sessions;
  }

  /** Tells of a store that already has more than may be taken, which refuses all that is new. */
  public void started() {
    state.guard().check();
    long most = limit - limit / RESERVE;
    long used = used();
    if (used > most) {
      log.warn(
          "{} destinations with their subscriptions and {} links take {} bytes of heap, more than"
              + " {}, which is what memory.named-state ({}) leaves them: all are kept, new ones are"
              + " refused; delete some, or give the broker more heap",
          state.destinations().all().size(),
          state.links().size(),
          used,
          most,
          limit);
    }
  }

  /** So often something was refused since start. */
  public long refused() {
    return refused;
  }

  /**
   * Something that outlives its connection is about to be made.
   *
   * @throws Refusal if there is no room for it
   */
  void take(String what, long bytes) {
    check(what, bytes, limit - limit / RESERVE);
  }

  /**
   * The same for who only looks whether there is room, and has not made yet what it needs besides.
   *
   * @param before what is made before
   * @throws Refusal if there is none, which counts once it is {@link Refusal#told}
   */
  public void look(String what, long bytes, long before) {
    state.guard().check();
    find(what, bytes, before, limit - limit / RESERVE);
  }

  /** The same for what the broker needs itself. */
  void lookOfReserve(String what, long bytes, long before) {
    find(what, bytes, before, limit);
  }

  /** A connection is about to be made; refused as above. */
  void takeToConnect(boolean first, String what, long bytes) {
    check(what, bytes, first ? limit : limit - limit / LAST);
  }

  /** Whether a refusal can be kept for a link. */
  public boolean mayKeep(Link link, long bytes) {
    state.guard().check();
    Links links = state.links();
    return used() + bytes <= limit - limit / RESERVE
        && links.outcomeBytes() + bytes <= limit / RESERVE
        && links.outcomeBytesOf(link.owner()) + bytes <= limit / LAST;
  }

  private void check(String what, long bytes, long most) {
    try {
      find(what, bytes, 0, most);
    } catch (NoRoom none) {
      refused++;
      throw new Refusal(none.code(), none.text());
    }
  }

  private void find(String what, long bytes, long before, long most) {
    long used = used() + before;
    if (used + bytes > most) {
      throw new NoRoom(
          what
              + " needs "
              + bytes
              + " bytes of heap, and destinations, subscriptions, connections and links take "
              + used
              + " of "
              + most
              + " (memory.named-state is "
              + limit
              + "): delete some, use fewer, or give the broker more heap");
    }
  }

  /** Found when something was planned; not counted before it is told. */
  private final class NoRoom extends Refusal {
    private static final long serialVersionUID = 1L;

    NoRoom(String text) {
      super(FaultCode.LIMIT_REACHED, text);
    }

    @Override
    public void told() {
      refused++;
    }
  }

  /** Something is about to be made that ends with its connection. */
  void take(PeerSession session, String what, long bytes) {
    take(what, bytes);
    checkShare(session, what, bytes);
  }

  /** A consumer or a browser of something that is there is about to be made. */
  void takeToConsume(PeerSession session, String what) {
    check(what, CONSUMER, limit - limit / LAST);
    checkShare(session, what, CONSUMER);
  }

  private void checkShare(PeerSession session, String what, long bytes) {
    long own = session.namedBytes();
    long most = limit / SHARE_OF_CONNECTION;
    if (own + bytes > most) {
      refused++;
      throw new Refusal(
          FaultCode.LIMIT_REACHED,
          what
              + " needs "
              + bytes
              + " bytes of heap, and what this connection has made that ends with it takes "
              + own
              + " of "
              + most
              + ", a quarter of memory.named-state: close or delete some, or use more connections");
    }
  }

  /**
   * What a connection made that ends with it, and that a destination counts, takes more or less.
   */
  void made(PeerSession session, long bytes) {
    session.namedBytes(session.namedBytes() + bytes);
  }

  /** What a connection takes itself, with its consumers, is so much now. */
  void settle(PeerSession session, long bytes) {
    long more = bytes - session.chargedBytes();
    sessions += more;
    session.chargedBytes(bytes);
    session.namedBytes(session.namedBytes() + more);
  }

  /** A connection has ended with all that it made. */
  void ended(PeerSession session) {
    sessions -= session.chargedBytes();
    session.chargedBytes(0);
    session.namedBytes(0);
  }
}
