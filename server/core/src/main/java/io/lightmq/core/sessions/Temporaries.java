package io.lightmq.core.sessions;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.TurnTime;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.TemporaryName;
import java.nio.ByteBuffer;
import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The names of temporary destinations, and those of them that have no connection at the moment. A
 * name that a client has given away has to stay what it is:
 *
 * <ul>
 *   <li>It is made of link and number with the store's key, so the link gets it again, also from
 *       the next process on this store, and nobody else does.
 *   <li>When a connection is lost, its temporary destinations stay with what is in them, for the
 *       grace, until their link is back: {@value #MOST_AWAY} at most, half of them of one user,
 *       {@value #MOST_AWAY_OF_LINK} of a link; what is beyond goes at once, as all do when a
 *       connection closes in order.
 *   <li>For as long after a start, a name that this process has not deleted may be of a link that
 *       comes back: what is sent to it waits, in {@value #MOST_AWAITED} destinations at most, half
 *       of them of one user who sends and {@value #MOST_AWAITED_BY_LINK} of one sender; beyond that
 *       the answer is RETRY_LATER.
 * </ul>
 *
 * <p>All of them are unlogged destinations like others, and count like them.
 */
@OwnedBy("shard")
public final class Temporaries {
  public static final int MOST_AWAY = 65_536;
  public static final int MOST_AWAY_OF_LINK = 16_384;
  public static final int MOST_AWAITED = 4_096;
  public static final int MOST_AWAITED_BY_LINK = 256;

  /** Names of deleted ones, remembered for the grace after a start. */
  public static final int MOST_DELETED = 65_536;

  /** How many are deleted in one turn. */
  private static final int MOST_IN_TURN = 1_000;

  private static final String ALGORITHM = "HmacSHA256";
  private static final byte BY_LINK = 1;
  private static final byte BY_CONNECTION = 2;

  /** One whose connection is lost. */
  private record Away(UUID linkId, String user, Destination destination, long untilNanos) {}

  /** One that somebody has sent to before its link came back. */
  private record Awaited(Destination destination, UUID sender, String user) {}

  private final Mac mac;
  private final TurnTime time;
  private final long graceNanos;
  private final long startUntilNanos;

  /** By the time of the loss, and so by the end of the grace. */
  private final LinkedHashMap<DestinationName, Away> away = new LinkedHashMap<>();

  private final Map<UUID, Set<DestinationName>> awayOfLink = new HashMap<>();
  private final Map<String, Integer> awayOfUser = new HashMap<>();

  /** Those that somebody has sent to before their link came back after a start. */
  private final LinkedHashMap<DestinationName, Awaited> awaited = new LinkedHashMap<>();

  private final Map<UUID, Integer> awaitedByLink = new HashMap<>();
  private final Map<String, Integer> awaitedByUser = new HashMap<>();

  /** Whether there may be links that another process on this store has known. */
  private boolean starting;

  private final Set<DestinationName> deleted = new HashSet<>();

  /**
   * For one process.
   *
   * @param key of the store
   * @param hadForerunner whether the store was used by a process before this one
   */
  public Temporaries(byte[] key, boolean hadForerunner, long graceMillis, TurnTime time) {
    try {
      this.mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
    } catch (NoSuchAlgorithmException | InvalidKeyException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
    this.time = time;
    this.graceNanos = TimeUnit.MILLISECONDS.toNanos(graceMillis);
    this.startUntilNanos = time.nanos() + graceNanos;
    this.starting = hadForerunner;
  }

  // ---- names ----

  /**
   * The name of a session's temporary destination.
   *
   * @param number the link's number for it; 0 if it has none, then the name is never made again
   * @param id the destination's, should it be new
   */
  DestinationName name(PeerSession session, DestinationKind kind, long number, long id) {
    ByteBuffer input = ByteBuffer.allocate(2 + 3 * Long.BYTES);
    input.put(number > 0 ? BY_LINK : BY_CONNECTION).put((byte) kind.code());
    if (number > 0) {
      UUID link = session.linkId();
      input.putLong(link.getMostSignificantBits()).putLong(link.getLeastSignificantBits());
      input.putLong(number);
    } else {
      input.putLong(session.peer().connectionId()).putLong(id);
    }
    return TemporaryName.of(kind, Arrays.copyOf(mac.doFinal(input.array()), TemporaryName.BYTES));
  }

  // ---- while their connections are away ----

  /** A connection is lost: what its link can ask for again; the caller deletes the others. */
  List<Destination> leave(PeerSession session) {
    Map<DestinationName, Destination> mine = session.temporaries();
    if (!session.numbersTemporaries() || graceNanos == 0) {
      return List.copyOf(mine.values());
    }
    UUID link = session.linkId();
    Set<DestinationName> ofLink = awayOfLink.computeIfAbsent(link, l -> new HashSet<>());
    Map<DestinationName, Destination> beyond = new LinkedHashMap<>(mine);
    long until = time.nanos() + graceNanos;
    String user = session.peer().userName();
    for (Destination each : mine.values()) {
      if (away.size() >= MOST_AWAY
          || awayOfUser.getOrDefault(user, 0) >= MOST_AWAY / 2
          || ofLink.size() >= MOST_AWAY_OF_LINK) {
        break;
      }
      away.put(each.name(), new Away(link, user, each, until));
      awayOfUser.merge(user, 1, Integer::sum);
      ofLink.add(each.name());
      beyond.remove(each.name());
    }
    if (ofLink.isEmpty()) {
      awayOfLink.remove(link);
    }
    return List.copyOf(beyond.values());
  }

  /** The destination of a name that this session's link has made, if it is there; now it is his. */
  @Nullable Destination back(PeerSession session, DestinationName name) {
    Destination mine = session.temporaries().get(name);
    if (mine != null) {
      return mine;
    }
    deleted.remove(name);
    Awaited waited = noLongerAwaited(name);
    if (waited != null) {
      return waited.destination();
    }
    Away found = away.get(name);
    if (found == null) {
      return null;
    }
    if (!found.linkId().equals(session.linkId())
        || !found.user().equals(session.peer().userName())) {
      throw new Refusal(
          FaultCode.NOT_OWNER, "temporary destination " + name.shown() + " is another user's");
    }
    forget(name);
    return found.destination();
  }

  /** A link closes in order: those of it that it has not asked for again, to be deleted. */
  List<Destination> close(UUID linkId) {
    Set<DestinationName> names = awayOfLink.getOrDefault(linkId, Set.of());
    return names.stream().map(away::get).map(Away::destination).toList();
  }

  /** It is deleted. */
  void deleted(Destination destination) {
    forget(destination.name());
    noLongerAwaited(destination.name());
    if (starting && deleted.size() < MOST_DELETED) {
      deleted.add(destination.name());
    }
  }

  private void forget(DestinationName name) {
    Away gone = away.remove(name);
    if (gone == null) {
      return;
    }
    oneLess(awayOfUser, gone.user());
    Set<DestinationName> ofLink = awayOfLink.get(gone.linkId());
    if (ofLink != null && ofLink.remove(name) && ofLink.isEmpty()) {
      awayOfLink.remove(gone.linkId());
    }
  }

  private @Nullable Awaited noLongerAwaited(DestinationName name) {
    Awaited gone = awaited.remove(name);
    if (gone != null) {
      oneLess(awaitedByLink, gone.sender());
      oneLess(awaitedByUser, gone.user());
    }
    return gone;
  }

  private static <K> void oneLess(Map<K, Integer> counts, K key) {
    counts.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
  }

  // ---- after a start ----

  /**
   * Whether a name that is unknown may be of a link that comes back.
   *
   * @throws Refusal if too many are waited for
   */
  boolean mayComeBack(PeerSession sender, DestinationName name) {
    if (!starting || !TemporaryName.is(name.name()) || deleted.contains(name)) {
      return false;
    }
    long left = startUntilNanos - time.nanos();
    if (left <= 0) {
      return false;
    }
    int bySender = awaitedByLink.getOrDefault(sender.linkId(), 0);
    if (awaited.size() >= MOST_AWAITED
        || awaitedByUser.getOrDefault(sender.peer().userName(), 0) >= MOST_AWAITED / 2
        || bySender >= MOST_AWAITED_BY_LINK) {
      throw new Refusal(
          FaultCode.RETRY_LATER,
          "temporary destination "
              + name.shown()
              + " is not there yet; its connection may come back within "
              + TimeUnit.NANOSECONDS.toSeconds(left)
              + " s, and the broker keeps what is sent to "
              + awaited.size()
              + " such destinations already, "
              + bySender
              + " of this sender");
    }
    return true;
  }

  /** Somebody sends to a destination that is made for who may come back. */
  void await(PeerSession sender, Destination made) {
    String user = sender.peer().userName();
    awaited.put(made.name(), new Awaited(made, sender.linkId(), user));
    awaitedByLink.merge(sender.linkId(), 1, Integer::sum);
    awaitedByUser.merge(user, 1, Integer::sum);
  }

  // ---- in time ----

  /** Those whose time is over, to be deleted, some at a time. */
  List<Destination> overdue() {
    long now = time.nanos();
    if (starting && now - startUntilNanos >= 0) {
      deleted.clear();
      starting = false;
    }
    if (!starting && !awaited.isEmpty()) {
      return awaited.values().stream().limit(MOST_IN_TURN).map(Awaited::destination).toList();
    }
    return away.values().stream()
        .limit(MOST_IN_TURN)
        .takeWhile(each -> now - each.untilNanos() >= 0)
        .map(Away::destination)
        .toList();
  }
}
