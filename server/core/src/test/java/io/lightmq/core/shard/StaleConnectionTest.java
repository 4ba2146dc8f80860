package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.door.Peer;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A connection was cut in silence, its link has come back over another one and has sent again what
 * had no answer. Now the network brings what was still on the old one.
 */
class StaleConnectionTest {
  private static final DestinationName IN = new DestinationName(DestinationKind.QUEUE, "in");
  private static final DestinationName OUT = new DestinationName(DestinationKind.QUEUE, "out");
  private static final UUID LINK = new UUID(77, 7);
  private static final int CONSUMER = 3;
  private static final int SESSION = 1;

  @RegisterExtension final BrokerHarness h = new BrokerHarness(9);
  private FakePeer old;
  private long in;
  private long out;

  /** What the old connection was given. */
  private List<Received> given;

  @BeforeEach
  void open() throws Exception {
    h.open();
    FakePeer other = h.attach();
    in = h.producer(other, IN);
    assertThat(h.receipt(other, h.publish(other, in, 1, "m0", "m1", "m2", "m3")))
        .isEqualTo(FaultCode.OK);
    old = h.attach(LINK, 1, 1, null);
    out = h.producer(old, OUT);
    h.consumer(old, CONSUMER, IN, Subscribe.QUEUE, null);
    given = h.pull(old, CONSUMER, 4);
    assertThat(given).hasSize(4);
  }

  private static List<Command.Acked> acked(long destination, Received... messages) {
    List<SequenceRange> ranges = Stream.of(messages).map(Received::range).toList();
    return List.of(new Command.Acked(CONSUMER, destination, ranges));
  }

  private Command.Commit commit(FakePeer peer, long number, String text, Received... inputs) {
    return new Command.Commit(
        peer,
        h.nextCorrelation(),
        SESSION,
        number,
        List.of(new Command.StagedRun(out, true, 1, h.bytes(true, 0, text))),
        inputs.length == 0 ? List.of() : acked(in, inputs));
  }

  private List<String> textsOf(DestinationName queue) {
    FakePeer looking = h.attach();
    h.tryConsumer(looking, 1, queue, Subscribe.BROWSE, null);
    return h.browse(looking, 1, 100, 1 << 20).stream().map(Received::text).toList();
  }

  /** All that may come late of a connection. */
  enum Late {
    A_RUN {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.Publish(
            peer, t.h.nextCorrelation(), t.out, 2, 1, t.h.bytes(true, 0, "late"));
      }
    },
    A_NON_PERSISTENT_RUN {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.Publish(
            peer, t.h.nextCorrelation(), t.out, 0, 1, t.h.bytes(false, 0, "late"));
      }
    },
    A_COMMIT {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return t.commit(peer, 2, "late", t.given.get(0));
      }
    },
    A_COMMIT_THAT_IS_EARLY {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return t.commit(peer, 3, "late", t.given.get(0));
      }
    },
    AN_ACKNOWLEDGEMENT {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.Acknowledge(peer, t.h.nextCorrelation(), acked(t.in, t.given.get(0)));
      }
    },
    AN_ACKNOWLEDGEMENT_THAT_WANTS_NO_ANSWER {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.Acknowledge(peer, 0, acked(t.in, t.given.get(0)));
      }
    },
    A_ROLLBACK {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.Return(
            peer, t.h.nextCorrelation(), acked(t.in, t.given.get(0)), true, "it failed");
      }
    },
    A_RETURN {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.Return(peer, 0, acked(t.in, t.given.get(0)), false);
      }
    },
    WHAT_WAS_BEGUN {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.Begun(peer, SESSION, true, acked(t.in, t.given.get(0)));
      }
    },
    A_PULL {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.Pull(peer, CONSUMER, t.h.nextCorrelation(), 10, 1 << 20, 10_000);
      }
    },
    THE_CLOSE_OF_A_CONSUMER {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.DetachConsumer(peer, t.h.nextCorrelation(), CONSUMER);
      }
    },
    THE_CLOSE_OF_A_SESSION {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.CloseSession(peer, t.h.nextCorrelation(), SESSION);
      }
    },
    A_CONSUMER {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.AttachConsumer(
            peer,
            t.h.nextCorrelation(),
            9,
            SESSION,
            IN,
            Subscribe.QUEUE,
            null,
            null,
            false,
            false,
            true);
      }
    },
    A_PRODUCER {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        DestinationName made = new DestinationName(DestinationKind.QUEUE, "made.late");
        return new Command.AttachProducer(peer, t.h.nextCorrelation(), made, true);
      }
    },
    A_TEMPORARY_QUEUE {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.CreateTemporary(
            peer, t.h.nextCorrelation(), DestinationKind.TEMPORARY_QUEUE, 1);
      }
    },
    A_CLIENT_ID {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.SetClientId(peer, t.h.nextCorrelation(), "till");
      }
    },
    ITS_ATTACH {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.Attach(t.h.newPeer(), t.h.nextCorrelation(), LINK, 1, 1, null);
      }
    },
    ITS_END {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.Detach(peer, false);
      }
    },
    ITS_CLOSE {
      @Override
      Command of(StaleConnectionTest t, FakePeer peer) {
        return new Command.Detach(peer, true);
      }
    };

    abstract Command of(StaleConnectionTest t, FakePeer peer);
  }

  /**
   * The new connection has what the old one had in flight, under the same numbers of consumers, and
   * the link's next number is 2: nothing in the late frame itself tells that it is late.
   */
  @ParameterizedTest
  @EnumSource
  void whatComesLateOfTheOldConnectionChangesNothing(Late late) {
    assertThat(h.receipt(old, h.publish(old, out, 1, "first"))).isEqualTo(FaultCode.OK);
    FakePeer current = h.attach(LINK, 2, 1, null);
    h.consumer(current, CONSUMER, IN, Subscribe.QUEUE, null);
    List<Received> again = h.pull(current, CONSUMER, 4);
    assertThat(again).extracting(Received::text).containsExactly("m0", "m1", "m2", "m3");
    assertThat(old.disconnects).hasSize(1).first().asString().startsWith("PROTOCOL_ERROR");
    int receipts = old.receipts.size();
    int received = old.received.size();

    h.broker.submit(late.of(this, old));
    h.loops.runUntilIdle();

    assertThat(old.receipts).hasSize(receipts);
    assertThat(old.received).hasSize(received);
    assertThat(old.replies.values())
        .noneMatch(
            reply ->
                reply instanceof Peer.Reply.Ok || reply instanceof Peer.Reply.TemporaryCreated);
    assertThat(h.admin("destination.show", Map.of("name", "made.late"))).contains("Failed");
    assertThat(textsOf(OUT)).containsExactly("first");
    assertThat(h.pull(current, CONSUMER, 4)).as("what it holds is not free again").isEmpty();

    Command.Commit commit =
        commit(current, 2, "second", again.get(0), again.get(1), again.get(2), again.get(3));
    h.broker.submit(commit);
    assertThat(h.receipt(current, commit.correlation())).isEqualTo(FaultCode.OK);
    assertThat(current.disconnects).isEmpty();
    assertThat(textsOf(OUT)).containsExactly("first", "second");
    assertThat(textsOf(IN)).isEmpty();
    assertThat(h.admin("destination.show", Map.of("name", "DLQ"))).doesNotContain("\"backlog\":1");
  }

  /** What waited for the old connection goes with it, and not to the new one's account. */
  @Test
  void aCommitOfTheOldConnectionThatWaitsForALowerNumberNeverComes() {
    Command.Commit early = commit(old, 2, "early", given.get(0));
    h.broker.submit(early);
    h.loops.runUntilIdle();
    FakePeer current = h.attach(LINK, 2, 1, null);
    assertThat(h.receipt(current, h.publish(current, out, 1, "one"))).isEqualTo(FaultCode.OK);
    h.loops.runUntilIdle();
    assertThat(textsOf(OUT)).containsExactly("one");
    assertThat(textsOf(IN)).containsExactly("m0", "m1", "m2", "m3");
    Command.Commit again = commit(current, 2, "early", given.get(0));
    h.broker.submit(again);
    assertThat(h.receipt(current, again.correlation()))
        .as("an acknowledgement counts on the connection that brought its message")
        .isEqualTo(FaultCode.TRANSACTION_ROLLED_BACK);
    assertThat(textsOf(OUT)).containsExactly("one");
    assertThat(textsOf(IN)).containsExactly("m0", "m1", "m2", "m3");
  }

  /** In the order in which it went out first, but some of it is lost and some of it late. */
  private List<Command> everything(FakePeer peer, long from, int numbers) {
    List<Command> all = new ArrayList<>();
    for (long number = from; number <= numbers; number++) {
      String text = "n" + number;
      all.add(
          number % 2 == 0 && number / 2 <= 4
              ? commit(peer, number, text, given.get((int) number / 2 - 1))
              : new Command.Publish(
                  peer, h.nextCorrelation(), out, number, 1, h.bytes(true, 0, text)));
    }
    return all;
  }

  static IntStream seeds() {
    return IntStream.range(0, 200);
  }

  /**
   * The newer attach comes anywhere among what the old connection sent; what is sent again mixes
   * with what comes late in any order, all of it between the turns of the shard or within one.
   */
  @ParameterizedTest
  @MethodSource("seeds")
  void inWhateverOrderEachNumberCountsOnce(int seed) {
    Random random = new Random(seed);
    int numbers = 1 + random.nextInt(9);
    List<Command> late = new ArrayList<>(everything(old, 1, numbers));
    if (random.nextBoolean()) {
      late.add(new Command.Detach(old, random.nextBoolean()));
    }
    int arrive = random.nextInt(numbers + 1); // its close never comes before the newer attach
    for (int i = 0; i < arrive; i++) {
      h.broker.submit(late.remove(0));
      if (random.nextInt(3) == 0) {
        h.loops.runUntilIdle();
      }
    }
    FakePeer current = h.newPeer();
    int attach = h.nextCorrelation();
    h.broker.submit(new Command.Attach(current, attach, LINK, 2, 1, null));
    int lateNow = random.nextInt(late.size() + 1);
    for (int i = 0; i < lateNow; i++) {
      h.broker.submit(late.remove(0));
    }
    long last = ((Peer.Reply.Attached) h.reply(current, attach)).last();
    assertThat(last).isLessThanOrEqualTo(arrive); // the shard takes turns between connections
    List<Command> again = everything(current, last + 1, numbers);
    List<Command> all = new ArrayList<>(again);
    while (!late.isEmpty() || !again.isEmpty()) {
      boolean fromOld = again.isEmpty() || (!late.isEmpty() && random.nextBoolean());
      h.broker.submit((fromOld ? late : again).remove(0));
      if (random.nextInt(3) == 0) {
        h.loops.runUntilIdle();
      }
    }
    List<String> outputs = new ArrayList<>();
    List<String> inputs = new ArrayList<>(List.of("m0", "m1", "m2", "m3"));
    for (int number = 1; number <= numbers; number++) {
      boolean commits = number % 2 == 0 && number / 2 <= 4;
      // What was received on a connection that is lost comes again, so what commits it is undone.
      boolean counts = !commits || number <= last;
      if (number > last) {
        assertThat(h.receipt(current, all.get((int) (number - last - 1)).correlation()))
            .isEqualTo(counts ? FaultCode.OK : FaultCode.TRANSACTION_ROLLED_BACK);
      }
      if (counts) {
        outputs.add("n" + number);
        inputs.remove(commits ? "m" + (number / 2 - 1) : "none");
      }
    }
    assertThat(current.disconnects).isEmpty();
    assertThat(textsOf(OUT)).containsExactlyElementsOf(outputs);
    assertThat(textsOf(IN)).containsExactlyElementsOf(inputs);
  }
}
