package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DestinationPicture;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.SubscriptionKey;
import io.lightmq.core.transaction.LinkPicture;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All that records make of a shard's state, so that a state that lived and one that was replayed
 * can be compared whole. What they may differ in, and why:
 *
 * <ul>
 *   <li>What is in no record: temporary destinations, plain subscriptions, unlogged lanes,
 *       consumers, views, what is in flight or visible, waits, the keys of unlogged messages, when
 *       links were used and by which connection. It goes with the process.
 *   <li>How often a message was delivered: a snapshot keeps it, and a start behind anything but
 *       that snapshot flags whatever lies in touched blocks instead.
 *   <li>The numbers of runs that went into unlogged lanes: a snapshot has those that it saw, so
 *       what is replayed has at least those of records and at most those that lived.
 *   <li>The ages of messages behind a snapshot, which does not have them.
 *   <li>Whether an entry lies in the journal or in a segment, below the snapshot's offset: a
 *       destination is switched over some turns after the snapshot was published.
 *   <li>What nobody needs who outlives the process: it is trimmed when a checkpoint looks.
 *   <li>When the janitor looks at a block again; after a start it looks at all in which something
 *       expires.
 * </ul>
 */
final class StatePicture {
  private final Map<String, String> texts = new LinkedHashMap<>();
  private final Map<String, LinkPicture.Numbers> numbers;

  private StatePicture(ShardState state, long fromOffset) {
    texts.put("shard epoch", "" + state.epoch());
    texts.put("stopped in order", "" + state.stopped());
    texts.put("next destination id", "" + state.destinations().nextId());
    texts.put("next subscription id", "" + state.nextSubscriptionId());
    for (Destination destination : state.destinations().all()) {
      if (!destination.kind().isTemporary()) {
        texts.putAll(DestinationPicture.of(destination, fromOffset));
        destination.subscriptions().forEach(each -> known(state, each));
      }
    }
    texts.putAll(LinkPicture.of(state.links()));
    numbers = LinkPicture.numbers(state.links());
  }

  /**
   * Takes it.
   *
   * @param fromOffset of the snapshot from which one of the two was replayed, 0 for none
   */
  static StatePicture of(ShardState state, long fromOffset) {
    return new StatePicture(state, fromOffset);
  }

  private void known(ShardState state, Subscription subscription) {
    String name = subscription.name();
    if (!subscription.kind().isDurable() || name == null) {
      return;
    }
    String of = "subscription " + name + " of " + subscription.clientId();
    var key = new SubscriptionKey(subscription.clientId(), name);
    texts.put(of + " is found", "" + (state.durableSubscription(key) == subscription));
    String clientId = subscription.clientId();
    if (clientId != null) {
      texts.put("client id " + clientId + " is known", "" + state.hasDurableOf(clientId));
      texts.put("client id " + clientId, "of " + state.clientIdOwners().owner(clientId));
    }
  }

  /** What a replayed state has otherwise than this one, which lived; null if nothing. */
  @Nullable String firstDifference(StatePicture replayed) {
    String difference = firstDifferenceBesideNumbers(replayed);
    if (difference != null) {
      return difference;
    }
    for (Map.Entry<String, LinkPicture.Numbers> each : numbers.entrySet()) {
      LinkPicture.Numbers again = replayed.numbers.get(each.getKey());
      if (again == null || !each.getValue().allows(again)) {
        return each.getKey() + ": they were " + each.getValue() + " and are replayed as " + again;
      }
    }
    return null;
  }

  /** The highest number of each link. */
  Map<String, Long> lastNumbers() {
    Map<String, Long> last = new LinkedHashMap<>();
    numbers.forEach((link, each) -> last.put(link, each.last()));
    return last;
  }

  /** The same but for the numbers of links. */
  @Nullable String firstDifferenceBesideNumbers(StatePicture replayed) {
    Set<String> all = new LinkedHashSet<>(texts.keySet());
    all.addAll(replayed.texts.keySet());
    for (String each : all) {
      String lived = texts.get(each);
      String again = replayed.texts.get(each);
      if (lived == null || !lived.equals(again)) {
        return each + ": it was " + lived + " and is replayed as " + again;
      }
    }
    return null;
  }

  @Override
  public String toString() {
    return texts + " " + numbers;
  }
}
