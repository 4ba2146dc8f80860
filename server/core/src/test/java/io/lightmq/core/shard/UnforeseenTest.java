package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A bug in the middle of a change ends the shard, also if what has changed is in no record; one
 * before the first change is a refusal.
 */
class UnforeseenTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");
  private static final DestinationName TOPIC = new DestinationName(DestinationKind.TOPIC, "t");

  private final BrokerHarness h = new BrokerHarness(5);
  private FakePeer peer;
  private long queue;
  private DestinationName temporary;

  @BeforeEach
  void start() throws IOException {
    h.open();
    peer = h.attach();
    queue = h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    h.consumer(peer, 2, TOPIC, Subscribe.PLAIN, null);
    h.consumer(peer, 3, QUEUE, Subscribe.BROWSE, null);
    int c = h.nextCorrelation();
    h.broker.submit(new Command.CreateTemporary(peer, c, DestinationKind.TEMPORARY_QUEUE));
    temporary = ((Peer.Reply.TemporaryCreated) h.reply(peer, c)).destination();
    long own = h.producer(peer, QUEUE);
    assertThat(h.receipt(peer, h.publish(peer, own, 0, "unlogged", "other")))
        .isEqualTo(FaultCode.OK);
  }

  /** From here on a part of the broker is missing, so that whoever uses it throws. */
  private void lose(String... path) throws ReflectiveOperationException {
    set(h, null, path);
  }

  /**
   * Sets a part of the broker, which is found by the names of fields, and by the class of what is
   * in an array; returns what it was.
   */
  static Object set(BrokerHarness h, Object part, String... path)
      throws ReflectiveOperationException {
    Object at = h.broker;
    for (String name : List.of(path).subList(0, path.length - 1)) {
      at = at instanceof Object[] all ? ofClass(all, name) : field(at, name).get(at);
    }
    Field last = field(at, path[path.length - 1]);
    Object was = last.get(at);
    last.set(at, part);
    return was;
  }

  private static Object ofClass(Object[] all, String name) {
    return Arrays.stream(all)
        .filter(each -> each.getClass().getSimpleName().equals(name))
        .findAny()
        .orElseThrow();
  }

  private static Field field(Object of, String name) throws NoSuchFieldException {
    Field field = of.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  private Command attach(int id, DestinationName name, Subscribe subscribe, String named) {
    return new Command.AttachConsumer(
        peer, h.nextCorrelation(), id, 1, name, subscribe, named, null, false, false, true);
  }

  /** What changes before the dispatcher's lines are used. */
  enum Door {
    DETACH,
    LOST,
    EXPEL,
    CLOSE_CONSUMER,
    CLOSE_SESSION,
    OPEN_QUEUE,
    OPEN_PLAIN,
    OPEN_SHARED
  }

  private Command command(Door door) {
    return switch (door) {
      case DETACH -> new Command.Detach(peer, true);
      case LOST -> new Command.Detach(peer, false);
      case EXPEL -> new Command.Expel(peer, FaultCode.PROTOCOL_ERROR, "enough");
      case CLOSE_CONSUMER -> new Command.DetachConsumer(peer, h.nextCorrelation(), 1);
      case CLOSE_SESSION -> new Command.CloseSession(peer, h.nextCorrelation(), 1);
      case OPEN_QUEUE -> attach(4, QUEUE, Subscribe.QUEUE, null);
      case OPEN_PLAIN -> attach(4, TOPIC, Subscribe.PLAIN, null);
      case OPEN_SHARED -> attach(4, TOPIC, Subscribe.SHARED, "s");
    };
  }

  @ParameterizedTest
  @EnumSource
  void aBugBehindTheFirstChangeEndsTheShard(Door door) throws Exception {
    lose("shard", "owner", "dispatcher", "lines", "lines");
    ends(command(door));
  }

  @Test
  void aTemporaryDestinationThatIsHalfDeletedEndsTheShard() throws Exception {
    lose("shard", "owner", "commands", "consuming", "subscribing", "counters");
    ends(new Command.DeleteTemporary(peer, h.nextCorrelation(), temporary));
  }

  private void ends(Command command) {
    h.broker.submit(command);
    assertThatThrownBy(() -> h.loops.runUntilIdle()).isInstanceOf(NullPointerException.class);
    assertThat(peer.replies).doesNotContainKey(h.nextCorrelation() - 1);
    assertThat(peer.disconnects).isEmpty();
  }

  @Test
  void aBugBeforeTheFirstChangeOfAnAcknowledgementIsRefused() throws Exception {
    var got = h.pull(peer, 1, 1).get(0).range();
    lose("shard", "owner", "commands", "consuming", "settlements");
    assertThat(h.acknowledge(peer, 1, queue, got).toString()).contains("changed nothing");
    assertThat(h.broker.failure()).isNotDone();
  }

  @Test
  void aRunForWhoseRoomABugIsAskedGivesItsBytesBack() throws Exception {
    lose("shard", "owner", "intake", "runs", "admission");
    int before = h.releasedBytes;
    h.publish(peer, queue, 1, "x");
    h.loops.runUntilIdle();
    assertThat(peer.disconnects).singleElement().asString().contains("changed nothing");
    assertThat(h.releasedBytes).isGreaterThan(before);
    assertThat(h.broker.failure()).isNotDone();
    assertThat(h.admin("destination.show", Map.of("name", "q"))).contains("\"backlog\":2");
  }

  /** A verb that an administrator calls, whose later slices fail when this is gone. */
  enum Verb {
    DAMAGED("damaged.list", "damaged", "state"),
    DELAYED("delayed.list", "delayed", "state"),
    LINKS("link.drop", "links", "sessions");

    private final String verb;
    private final String administration;
    private final String lost;

    Verb(String verb, String administration, String lost) {
      this.verb = verb;
      this.administration = administration;
      this.lost = lost;
    }
  }

  @ParameterizedTest
  @EnumSource
  void aBugInALaterSliceOfAVerbIsRefused(Verb verb) throws Exception {
    for (int i = 0; i < 1_100; i++) {
      h.producer(peer, new DestinationName(DestinationKind.QUEUE, "queue-" + i));
    }
    for (int hours = 1; hours <= 2; hours++) {
      int c = h.nextCorrelation();
      h.broker.submit(
          new Command.Publish(peer, c, queue, hours, 1, h.bytes(true, 0, hours * 3_600_000L, "x")));
      assertThat(h.receipt(peer, c)).isEqualTo(FaultCode.OK);
    }
    for (int i = 0; i < 100; i++) {
      FakePeer left = h.newPeer();
      left.user = "stranger";
      int c = h.nextCorrelation();
      h.broker.submit(new Command.Attach(left, c, new UUID(9, i), 1, 1, null));
      h.reply(left, c);
      h.broker.submit(new Command.Detach(left, false));
    }
    h.loops.runUntilIdle();
    FakePeer admin = h.newPeer();
    FakePeer other = h.newPeer();
    Map<String, String> arguments =
        verb == Verb.LINKS
            ? Map.of("owner", "stranger", "older-than", "1m", "dry-run", "true")
            : Map.of();
    h.broker.submit(new Command.Admin(admin, 1, verb.verb, arguments));
    h.broker.submit(new Command.Admin(other, 2, "destination.show", Map.of("name", "q")));
    h.loops.runUntil(() -> other.replies.containsKey(2));
    assertThat(admin.replies).as("there are further slices").isEmpty();
    lose("shard", "owner", "commands", "administration", verb.administration, verb.lost);
    assertThat(h.reply(admin, 1).toString()).contains("BAD_REQUEST", "changed nothing");
    assertThat(h.broker.failure()).isNotDone();
  }
}
