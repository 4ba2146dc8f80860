package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.record.BatchBytes;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.SubscriptionKey;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Whatever is changed of the state without a record is seen by who compares it with a replay. */
class StatePictureTest {
  private static final UUID LINK = new UUID(1, 2);

  /** A broker with one of everything. */
  private static final class Lived {
    final BrokerHarness harness = new BrokerHarness(12);
    final FakePeer peer;
    final Destination queue;
    final Subscription jobs;
    final DurableLane lane;
    final Subscription desk;

    Lived() throws IOException {
      harness.open();
      peer = harness.attach(LINK, 1, 1, "desk");
      DestinationName orders = new DestinationName(DestinationKind.QUEUE, "orders");
      DestinationName prices = new DestinationName(DestinationKind.TOPIC, "prices");
      harness.admin(
          "destination.create",
          Map.of("kind", "queue", "name", "orders", "suppress-duplicates", "property:key"));
      long id = harness.producer(peer, orders);
      harness.consumer(peer, 1, orders, Subscribe.QUEUE, null);
      int c = harness.publish(peer, id, 1, "one", "two", "three");
      assertThat(harness.receipt(peer, c)).isEqualTo(FaultCode.OK);
      assertThat(harness.pull(peer, 1, 1)).hasSize(1);
      harness.consumer(peer, 2, prices, Subscribe.DURABLE, "all");
      harness.loops.runUntilIdle();
      queue = destination(id);
      jobs = queue.queueSubscription();
      lane = queue.durable(4);
      desk = state().durableSubscription(new SubscriptionKey("desk", "all"));
      assertThat(harness.isWritten()).isTrue();
      assertThat(harness.replayedOtherwise()).isNull();
    }

    ShardState state() {
      return harness.broker.state();
    }

    private Destination destination(long id) {
      Destination found = state().destinations().find(id);
      assertThat(found).isNotNull();
      return found;
    }

    List<SequenceRange> last() {
      return List.of(new SequenceRange(4, lane.last(), 1));
    }
  }

  private static void isSeen(String what, Consumer<Lived> change) throws IOException {
    Lived lived = new Lived();
    lived.harness.loops.within("shard", () -> change.accept(lived));
    assertThat(lived.harness.replayedOtherwise()).as("a change of %s", what).contains(what + ":");
  }

  @Test
  void ofDestinations() throws IOException {
    isSeen("settings", it -> it.queue.set(it.queue.settings().with(Map.of("max-attempts", "9"))));
    isSeen("was grouped by a record", it -> it.queue.group(true));
    isSeen("set aside", it -> it.queue.damaged().setAside(it.last()));
    isSeen("id", it -> it.state().destinations().delete(it.queue));
    isSeen("next destination id", it -> it.state().destinations().nextId(999));
  }

  @Test
  void ofLanes() throws IOException {
    isSeen("end", it -> it.lane.append(it.lane.last() + 1, 1));
    isSeen("newest", it -> it.lane.came(it.lane.last(), Long.MAX_VALUE / 2));
    isSeen("places", it -> it.lane.install(List.of(), Long.MAX_VALUE));
  }

  @Test
  void ofSubscriptions() throws IOException {
    isSeen("unacknowledged", it -> it.jobs.acknowledge(it.last()));
    isSeen("attempts", it -> it.jobs.attempted(it.last()));
    isSeen("touched", it -> it.jobs.seen().touch(4, it.lane.last() + 4_096, 1));
    isSeen("flagged", it -> it.jobs.seen().flagTouched());
    isSeen("keys", it -> it.jobs.remember(List.of(LINK), 7));
    isSeen("owner", it -> it.desk.owned("eve"));
    isSeen("kind", it -> it.desk.destination().close(it.desk));
  }

  @Test
  void ofLinks() throws IOException {
    isSeen("numbers of link " + LINK, it -> it.state().links().taken(LINK, 99));
    isSeen(
        "link " + LINK,
        it -> it.state().links().refused(LINK, 1, FaultCode.TOO_LARGE, "never recorded"));
    isSeen("links take", it -> it.state().links().closed(LINK));
  }

  @Test
  void ofTheShard() throws IOException {
    isSeen("shard epoch", it -> it.state().apply(new ShardRecord.Epoch(77), BatchBytes.NONE));
    isSeen(
        "stopped in order", it -> it.state().apply(ShardRecord.Stopped.UNCOUNTED, BatchBytes.NONE));
  }

  @Test
  void numbersOfUnloggedRunsMayBeForgotten() throws IOException {
    Lived lived = new Lived();
    lived.harness.loops.within("shard", () -> lived.state().links().takenUnlogged(LINK, 99));
    assertThat(lived.harness.replayedOtherwise()).isNull();
  }
}
