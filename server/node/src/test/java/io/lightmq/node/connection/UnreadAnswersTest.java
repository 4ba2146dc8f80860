package io.lightmq.node.connection;

import static io.lightmq.node.connection.ConnectionHarness.queue;
import static io.lightmq.node.connection.ConnectionHarness.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.FrameType;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Xid;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Clients that ask and do not read what they are answered, or read it slowly. */
class UnreadAnswersTest {
  /** One client's answers that wait, and the frame that was too much. */
  private static final int BOUND_BYTES = 48 << 10;

  private static final int MANY = 2_000;
  private static final String LONG = "the broker says why, at some length. ".repeat(5);

  private ConnectionHarness harness = new ConnectionHarness();

  @AfterEach
  void close() {
    harness.channel.close();
    harness.channel.runPendingTasks();
    assertThat(harness.open.open()).as("requests of a connection that has ended").isZero();
    assertThat(harness.deliveries.usedBytes()).isZero();
  }

  private static ByteBuf encode(Frame frame) {
    return FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
  }

  private static void append(ByteBuf to, Frame frame) {
    ByteBuf one = encode(frame);
    to.writeBytes(one);
    one.release();
  }

  /** Requests that the connection refuses without asking the shard, in one read. */
  private static ByteBuf refused(int count) {
    ByteBuf bytes = Unpooled.buffer();
    for (int i = 0; i < count; i++) {
      append(bytes, new Frame.AttachProducer(100 + i, 1, 77, queue("q")));
    }
    return bytes;
  }

  /** All answers, in turns as they can be written. */
  private List<Integer> answers() {
    List<Integer> correlations = new ArrayList<>();
    for (Frame frame : harness.sent()) {
      correlations.add(frame.correlation());
    }
    return correlations;
  }

  @Test
  void aClientThatReadsNothingIsNotRead() {
    harness.attached();
    harness.takes = 0;
    harness.sendBytes(refused(MANY));
    assertThat(harness.waitingBytes()).isLessThan(BOUND_BYTES);
    assertThat(harness.isReading()).isFalse();
    harness.takes(Integer.MAX_VALUE);
    assertThat(answers()).hasSize(MANY).isSorted().doesNotHaveDuplicates();
    assertThat(harness.isReading()).isTrue();
  }

  @Test
  void aClientThatReadsSlowlyGetsAllAnswersInOrder() {
    harness.attached();
    harness.takes = 0;
    harness.sendBytes(refused(MANY));
    List<Integer> answers = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      harness.takes(1);
      assertThat(harness.waitingBytes()).isLessThan(BOUND_BYTES);
      answers.addAll(answers());
    }
    assertThat(answers).hasSize(MANY).isSorted();
    harness.takes(Integer.MAX_VALUE);
    assertThat(harness.isReading()).isTrue();
  }

  // ---- every frame that a client may send ----

  private static final Set<Class<?>> NUMBERED = Set.of(Frame.Prepare.class, Frame.Decide.class);

  static List<Class<?>> framesOfClients() {
    return Arrays.stream(Frame.class.getPermittedSubclasses())
        .filter(type -> FrameCodec.typeOf(sample(type, 1)).isFrom(FrameType.Sender.CLIENT))
        .toList();
  }

  private static Frame sample(Class<?> type, int correlation) {
    try {
      RecordComponent[] components = type.getRecordComponents();
      Class<?>[] types = new Class<?>[components.length];
      Object[] values = new Object[components.length];
      for (int i = 0; i < components.length; i++) {
        types[i] = components[i].getType();
        values[i] = value(components[i].getName(), types[i], correlation);
      }
      var constructor = type.getDeclaredConstructor(types);
      constructor.setAccessible(true);
      return (Frame) constructor.newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(type + " has a component that this test cannot make up", e);
    }
  }

  private static Object value(String name, Class<?> type, int correlation) {
    if (name.equals("correlation")) {
      return correlation;
    } else if (name.equals("sessionId") || name.equals("number")) {
      return type == int.class ? (Object) (1_000 + correlation) : (Object) 0L;
    } else if (type == Frame.Part.class) {
      return null;
    } else if (type == Xid.class) {
      return new Xid(1, new byte[1], new byte[0]);
    } else if (type == Branch.class) {
      return new Branch.Local(1);
    } else if (name.equals("pulls")) {
      return List.of(new Frame.PullOne(1, correlation, 1, 1, 0));
    } else if (type == int.class) {
      return 1;
    } else if (type == long.class) {
      return 1L;
    } else if (type == boolean.class) {
      return false;
    } else if (type == String.class) {
      return "q";
    } else if (type == byte[].class) {
      return new byte[1];
    } else if (type == UUID.class) {
      return new UUID(3, 4);
    } else if (type == DestinationName.class) {
      return queue("q");
    } else if (type == ByteBuf.class) {
      return run(100);
    } else if (type == List.class) {
      return List.of();
    } else if (type == Map.class) {
      return Map.of();
    } else if (type == DestinationKind.class) {
      return DestinationKind.TEMPORARY_QUEUE;
    }
    return type.getEnumConstants()[0];
  }

  /** What the shard would say, as long and as soon as it can be. */
  private void answerCommands() {
    for (Command command : List.copyOf(harness.commands)) {
      Peer peer = command.peer();
      if (command instanceof Command.Publish publish) {
        publish.messages().release();
        peer.receipt(publish.correlation(), FaultCode.MEMORY_FULL, LONG);
      } else if (command instanceof Command.Commit commit) {
        commit.runs().forEach(each -> each.messages().release());
        peer.receipt(commit.correlation(), FaultCode.MEMORY_FULL, LONG);
      } else if (command instanceof Command.Pull pull) {
        peer.pullDone(pull.consumerId(), pull.pullId(), FaultCode.BAD_REQUEST, 0);
        peer.carriedOut();
      } else if (correlation(command) > 0) {
        peer.reply(correlation(command), new Peer.Reply.Failed(FaultCode.LIMIT_REACHED, LONG));
      } else if (!(command instanceof Command.Writable) && !(command instanceof Command.Detach)) {
        peer.carriedOut();
      }
    }
    harness.commands.clear();
    harness.channel.runPendingTasks();
  }

  private static int correlation(Command command) {
    try {
      return (int) command.getClass().getMethod("correlation").invoke(command);
    } catch (NoSuchMethodException e) {
      return 0;
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @MethodSource("framesOfClients")
  void noFrameMakesMoreAnswersThanAClientReads(Class<?> type) throws Exception {
    ConnectionSettings many =
        ConnectionHarness.SETTINGS.with(new ConnectionSettings.Counts(8, MANY, 4, 5, 16));
    harness = new ConnectionHarness(many, "127.0.0.1").attached("admin").producer();
    harness.takes = 0;
    for (int i = 0; i < MANY && harness.channel.isActive(); i++) {
      harness.channel.writeInbound(encode(sample(type, 100 + i)));
      harness.channel.runPendingTasks();
      answerCommands();
      assertThat(harness.waitingBytes()).isLessThan(BOUND_BYTES);
    }
    long answers = 0;
    for (int i = 0; i < MANY; i++) {
      harness.takes(Integer.MAX_VALUE);
      answers += harness.sent().size();
      answerCommands();
    }
    boolean silent =
        type == Frame.Heartbeat.class
            || type == Frame.DetachProducer.class
            || type == Frame.Begun.class
            || type == Frame.Goodbye.class;
    boolean ends =
        type == Frame.Hello.class
            || type == Frame.AuthStart.class
            || type == Frame.AuthResponse.class
            || type == Frame.Attach.class
            || NUMBERED.contains(type) // by the link from 1 on, and this is 0
            || type == Frame.Goodbye.class;
    assertThat(answers > 0).isEqualTo(!silent);
    assertThat(harness.channel.isActive()).isEqualTo(!ends);
    assertThat(harness.isReading() || ends).isTrue();
  }

  // ---- what the shard answers ----

  @Test
  void answersOfTheShardWaitUnwrittenAndCountAsOpen() {
    ConnectionSettings many = ConnectionHarness.openRequests(250);
    harness = new ConnectionHarness(many, "127.0.0.1").attached();
    for (int i = 0; i < 249; i++) {
      harness.send(new Frame.Unsubscribe(100 + i, "s"));
    }
    harness.takes = 0;
    answerCommands();
    assertThat(harness.waitingBytes()).isLessThan(BOUND_BYTES);
    assertThat(harness.open.open()).isBetween(100L, 249L);
    assertThat(harness.isReading()).isFalse();
    harness.takes(Integer.MAX_VALUE);
    assertThat(answers()).hasSize(249).isSorted();
    assertThat(harness.open.open()).isZero();
    assertThat(harness.isReading()).isTrue();
  }

  @Test
  void deliveriesThatWaitDoNotKeepAClientFromBeingRead() {
    harness.attached();
    harness.send(new Frame.Pull(List.of(new Frame.PullOne(1, 1, 10, 16 << 10, 0))));
    Peer peer = harness.peer();
    harness.takes = 0;
    for (int i = 0; i < 5; i++) {
      Peer.OutBuffer room = peer.allocate(16 << 10);
      room.bytes().put(ConnectionHarness.entry(16 << 10));
      peer.deliver(new Peer.Delivery(1, 1, 1, List.of(), room, 16 << 10));
      harness.channel.runPendingTasks();
    }
    assertThat(harness.waitingBytes()).isGreaterThan(BOUND_BYTES);
    assertThat(harness.isReading()).isTrue();
    harness.send(new Frame.SetClientId(9, "c"));
    assertThat(harness.last(Command.SetClientId.class).clientId()).isEqualTo("c");
    harness.takes(Integer.MAX_VALUE);
    assertThat(harness.sent()).hasSize(5);
    peer.carriedOut();
  }

  @Test
  void oneVerbIsUnderWayAtATimeAndItsAnswerCountsAmongTheDeliveries() throws Exception {
    harness.attached("admin");
    ByteBuf both = encode(new Frame.Admin(5, "destination.list", Map.of()));
    append(both, new Frame.Admin(6, "user.list", Map.of()));
    harness.sendBytes(both);
    assertThat(harness.commands).hasSize(1);
    assertThat(harness.nodeVerbs).isEmpty();
    harness.takes = 0;
    harness.peer().reply(5, new Peer.Reply.Json("j".repeat(50 << 10)));
    harness.channel.runPendingTasks();
    assertThat(harness.deliveries.usedBytes()).isGreaterThan(50 << 10);
    assertThat(harness.nodeVerbs).as("while the answer is not read").isEmpty();
    harness.takes(Integer.MAX_VALUE);
    assertThat(harness.sent()).hasSize(1);
    assertThat(harness.nodeVerbs).containsExactly("user.list");
  }

  // ---- what was read with what is answered ----

  @Test
  void runsAndCommitsBehindRefusalsKeepTheirOrderAndTheirCredit() {
    harness.attached().producer();
    harness.takes = 0;
    ByteBuf bytes = refused(300);
    for (int i = 0; i < 5; i++) {
      append(bytes, new Frame.Publish(1_000 + i, 40, 1 + i, 1, run(12 << 10)));
      append(bytes, new Frame.AttachProducer(2_000 + i, 1, 77, queue("q")));
    }
    Frame.StagedRun staged = new Frame.StagedRun(40, true, 1, run(20 << 10));
    append(bytes, new Frame.Commit(3_000, 1, 6, List.of(staged), List.of()));
    append(bytes, new Frame.AttachProducer(3_001, 1, 77, queue("q")));
    append(bytes, new Frame.Commit(3_002, 1, 7, List.of(), List.of()));
    harness.sendBytes(bytes);
    assertThat(harness.commands).isEmpty();
    for (int i = 0; i < 400; i++) {
      harness.takes(1);
    }
    harness.takes(Integer.MAX_VALUE);
    assertThat(harness.sent()).hasSize(306).allMatch(frame -> frame instanceof Frame.Fault);
    assertThat(harness.commands).hasSize(7);
    assertThat(harness.isReading()).isTrue();
    answerCommands();
    assertThat(harness.commits.usedBytes()).isZero();
    harness.sent();
  }

  @Test
  void whatWasReadBeforeTheConnectionEndedIsNotCarriedOut() {
    harness.attached();
    harness.takes = 0;
    ByteBuf bytes = refused(300);
    append(bytes, new Frame.SetClientId(9, "c"));
    harness.sendBytes(bytes);
    harness.channel.close();
    harness.channel.runPendingTasks();
    assertThat(harness.commands).hasSize(1).allMatch(each -> each instanceof Command.Detach);
  }

  // ---- no direct memory ----

  /** It has none, once that is asked for. */
  private static final class Scarce extends io.netty.buffer.AbstractByteBufAllocator {
    private boolean none;

    Scarce() {
      super(true);
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
      return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
      if (none) {
        throw new OutOfMemoryError("Cannot reserve 1048576 bytes of direct buffer memory");
      }
      return UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
      return false;
    }
  }

  @Test
  void withoutDirectMemoryTheShardGoesOnAndTheConnectionEnds() {
    Scarce memory = new Scarce();
    harness.attached();
    harness.channel.config().setAllocator(memory);
    harness.send(new Frame.SetClientId(9, "c"));
    Peer peer = harness.peer();
    memory.none = true;
    Peer.OutBuffer room = peer.allocate(1_000);
    peer.deliver(new Peer.Delivery(1, 1, 1, List.of(), room, 1_000));
    harness.channel.runPendingTasks();
    assertThat(harness.channel.isActive()).isFalse();
    assertThatThrownBy(room::release).as("given back").isInstanceOf(RuntimeException.class);
  }

  @Test
  void anAnswerForWhichThereIsNoMemoryEndsItsConnection() {
    Scarce memory = new Scarce();
    harness.attached();
    harness.channel.config().setAllocator(memory);
    memory.none = true;
    harness.sendBytes(refused(1));
    assertThat(harness.channel.isActive()).isFalse();
  }

  @Test
  void aRunForWhichThereIsNoMemoryGivesItsCreditBack() {
    Scarce memory = new Scarce();
    ConnectionSettings many = ConnectionHarness.openRequests(250);
    harness = new ConnectionHarness(many, "127.0.0.1");
    harness.channel.config().setAllocator(memory);
    harness.attached().producer();
    for (int i = 0; i < 20; i++) {
      harness.publish(100 + i, 100);
    }
    memory.none = true;
    harness.channel.writeInbound(encode(new Frame.Publish(200, 40, 200, 1, run(100))));
    assertThat(harness.channel.isActive()).isFalse();
    answerCommands();
    assertThat(harness.ledger.exposedBytes()).isZero();
  }
}
