package io.lightmq.node.connection;

import static io.lightmq.node.connection.ConnectionHarness.queue;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.FrameType;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.SequenceRange;
import io.lightmq.wire.entry.Xid;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What frames take of the heap is reckoned before they are decoded, and until they are done. */
class FrameHeapTest {
  private static final ConnectionSettings MANY = ConnectionHarness.openRequests(16_384);
  private static final int CHARS = 10_000;
  private static final String LONG = "x".repeat(CHARS);

  private ConnectionHarness harness = new ConnectionHarness(MANY, "127.0.0.1").attached();

  private static ByteBuf encode(Frame frame) {
    return FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
  }

  // ---- pulls ----

  private static Frame.Pull pulls(int count) {
    List<Frame.PullOne> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(new Frame.PullOne(1, i % 100, 1, 1, 0));
    }
    return new Frame.Pull(all);
  }

  @Test
  void pullsAreDecodedOnlyWhenThereIsRoomForThem() {
    harness.decoded.keep(ConnectionHarness.DECODED - 40_000);
    harness.send(pulls(2_000));
    assertThat(harness.commands).isEmpty();
    assertThat(harness.isReading()).isFalse();
    harness.decoded.giveBack(ConnectionHarness.DECODED - 40_000);
    harness.channel.runPendingTasks();
    assertThat(harness.commands).hasSize(2_000);
  }

  @Test
  void pullsTakeTheirHeapUntilTheLastOfTheirFrameIsCarriedOut() {
    harness.send(pulls(2_000));
    harness.send(pulls(1));
    long taken = harness.decoded.usedBytes();
    assertThat(taken).isBetween(2_000 * 100L, 2_000 * 200L);
    assertThat(harness.isReading()).isFalse();
    Peer peer = harness.peer();
    int carriedOut = 0;
    for (; carriedOut < 1_999; carriedOut++) {
      peer.carriedOut();
    }
    assertThat(harness.decoded.usedBytes()).isEqualTo(taken);
    peer.carriedOut();
    assertThat(harness.decoded.usedBytes()).isZero();
    harness.channel.runPendingTasks();
    assertThat(harness.isReading()).isTrue();
  }

  @Test
  void theHeapOfPullsIsGivenBackWhenTheyAreCarriedOutAfterTheirConnection() {
    harness.send(pulls(100));
    Peer peer = harness.peer();
    harness.channel.close();
    assertThat(harness.decoded.usedBytes()).isPositive();
    for (int i = 0; i < 100; i++) {
      peer.carriedOut();
    }
    assertThat(harness.decoded.usedBytes()).isZero();
  }

  // ---- texts ----

  /** Frames with a long text. */
  enum Text {
    CLIENT_ID,
    UNSUBSCRIBE,
    SELECTOR,
    SUBSCRIPTION,
    ASKED_CAUSE,
    CAUSE,
    VERB,
    ARGUMENTS
  }

  private static Frame frame(Text text, int correlation, String chars) {
    return switch (text) {
      case CLIENT_ID -> new Frame.SetClientId(correlation, chars);
      case UNSUBSCRIBE -> new Frame.Unsubscribe(correlation, chars);
      case SELECTOR -> consumer(correlation, null, chars);
      case SUBSCRIPTION -> consumer(correlation, chars, null);
      case ASKED_CAUSE -> new Frame.Return(correlation, List.of(), true, cause(chars));
      case CAUSE -> new Frame.Return(0, List.of(), true, cause(chars));
      case VERB -> new Frame.Admin(correlation, "destination." + chars, Map.of());
      case ARGUMENTS -> new Frame.Admin(correlation, "user.add", Map.of("name", chars, "b", "c"));
    };
  }

  private static String cause(String chars) {
    return chars.substring(0, Math.min(chars.length(), Protocol.MAX_CAUSE_CHARS));
  }

  private static Frame consumer(int correlation, String subscription, String selector) {
    return new Frame.AttachConsumer(
        correlation,
        correlation,
        1,
        queue("q"),
        Frame.Subscribe.QUEUE,
        subscription,
        selector,
        false,
        false);
  }

  @ParameterizedTest
  @EnumSource
  void aLongTextTakesItsHeapUntilItsRequestIsAnswered(Text text) throws Exception {
    harness = new ConnectionHarness(MANY, "127.0.0.1").attached("admin");
    Peer peer = sendAndFind(frame(text, 9, LONG));
    int chars = text == Text.CAUSE || text == Text.ASKED_CAUSE ? 1_024 : CHARS;
    assertThat(harness.decoded.usedBytes()).isBetween(2L * chars, 2L * chars + 1_000);
    if (text == Text.CAUSE) {
      peer.carriedOut();
    } else {
      peer.reply(9, new Peer.Reply.Ok());
      harness.sent();
    }
    assertThat(harness.decoded.usedBytes()).isZero();
    assertThat(harness.isReading()).isTrue();
  }

  private Peer sendAndFind(Frame frame) {
    if (harness.commands.isEmpty()) {
      harness.send(new Frame.Acknowledge(0, List.of()));
    }
    Peer peer = harness.peer();
    peer.carriedOut();
    harness.send(frame);
    return peer;
  }

  @ParameterizedTest
  @EnumSource
  void aShortTextIsCountedByItsNumber(Text text) throws Exception {
    harness = new ConnectionHarness(MANY, "127.0.0.1").attached("admin");
    sendAndFind(frame(text, 9, "short"));
    assertThat(harness.decoded.usedBytes()).isLessThan(500);
  }

  @Test
  void aConnectionIsNotReadWhileItsTextsTakeItsShare() {
    int sent = 0;
    while (harness.isReading() && sent < 100) {
      harness.send(new Frame.SetClientId(10 + sent, LONG));
      sent++;
    }
    assertThat(sent).isEqualTo(ConnectionHarness.DECODED / 4 / (2 * CHARS) + 1);
    Peer peer = harness.peer();
    for (int i = 0; i < sent; i++) {
      peer.reply(10 + i, new Peer.Reply.Ok());
    }
    harness.sent();
    assertThat(harness.isReading()).isTrue();
    assertThat(harness.decoded.usedBytes()).isZero();
  }

  @Test
  void aConnectionThatEndsTakesNoHeapForItsTexts() {
    harness.send(new Frame.SetClientId(10, LONG));
    harness.channel.close();
    harness.channel.runPendingTasks();
    assertThat(harness.decoded.usedBytes()).isZero();
  }

  @Test
  void aCorrelationStandsForOneLongText() {
    harness.send(new Frame.SetClientId(10, LONG));
    harness.send(new Frame.SetClientId(10, LONG));
    assertThat(harness.goodbye().text()).contains("correlation 10 is in use");
    assertThat(harness.decoded.usedBytes()).isZero();
  }

  // ---- what is reckoned before a frame is decoded ----

  private static final Branch.Xa BRANCH =
      new Branch.Xa(new Xid(1, new byte[Xid.MAX_PART_BYTES], new byte[Xid.MAX_PART_BYTES]));

  private static List<Frame> worst(FrameType type, int parts) {
    String ascii = "y".repeat(parts * 5);
    String wide = "\u00e4".repeat(parts * 3);
    return switch (type) {
      case ACKNOWLEDGE ->
          List.of(
              new Frame.Acknowledge(0, acked(1, parts)),
              new Frame.Acknowledge(0, acked(parts, 1)),
              new Frame.Acknowledge(0, acked(parts, 0)));
      case RETURN ->
          List.of(
              new Frame.Return(0, acked(parts, 1), true, cause(wide)),
              new Frame.Return(0, acked(1, parts), true, null));
      case BEGUN -> List.of(new Frame.Begun(1, true, acked(parts, 1)));
      case COMMIT ->
          List.of(
              new Frame.Commit(9, 1, 1, List.of(), acked(parts, 1)),
              new Frame.Commit(9, 1, 1, runs(parts, 100), acked(1, parts)),
              new Frame.Commit(9, 1, 1, runs(1, 100 * parts), List.of()),
              new Frame.Commit(9, 1, 1, List.of(), acked(1, 1), new Frame.Part(BRANCH, 1)));
      case STAGE ->
          List.of(
              new Frame.Stage(9, 1, 1, List.of(), acked(parts, 1), BRANCH),
              new Frame.Stage(9, 1, 1, runs(parts, 100), acked(1, parts), BRANCH),
              new Frame.Stage(9, 1, 1, runs(1, 100 * parts), List.of(), BRANCH));
      case PREPARE ->
          List.of(
              new Frame.Prepare(9, 1, 1, List.of(), acked(parts, 1), BRANCH.xid(), 1),
              new Frame.Prepare(9, 1, 1, runs(parts, 100), acked(1, parts), BRANCH.xid(), 1),
              new Frame.Prepare(9, 1, 1, runs(1, 100 * parts), List.of(), BRANCH.xid(), 1));
      case DECIDE ->
          List.of(
              new Frame.Decide(9, 1, BRANCH.xid(), io.lightmq.wire.entry.BranchDecision.COMMIT));
      case ABANDON -> List.of(new Frame.Abandon(9, BRANCH, true));
      case RECOVER -> List.of(new Frame.Recover(9, Protocol.MAX_RECOVERED, BRANCH.xid()));
      case PULL -> List.of(pulls(parts));
      case ADMIN -> List.of(new Frame.Admin(9, wide, arguments(parts)), admin(ascii));
      case SET_CLIENT_ID ->
          List.of(new Frame.SetClientId(9, ascii), new Frame.SetClientId(9, wide));
      case UNSUBSCRIBE -> List.of(new Frame.Unsubscribe(9, wide));
      case ATTACH -> List.of(new Frame.Attach(9, new UUID(1, 2), 1, 1, wide));
      case ATTACH_CONSUMER -> List.of(consumer(9, wide, ascii));
      case GOODBYE -> List.of(new Frame.Goodbye(io.lightmq.wire.entry.FaultCode.OK, cause(wide)));
      case ATTACH_PRODUCER -> List.of(new Frame.AttachProducer(9, 1, 1, queue(name(wide))));
      case DELETE_TEMPORARY -> List.of(new Frame.DeleteTemporary(9, queue(name(wide))));
      case OPEN_SESSION -> List.of(new Frame.OpenSession(9, 1));
      case CLOSE_SESSION -> List.of(new Frame.CloseSession(9, 1));
      case DETACH_PRODUCER -> List.of(new Frame.DetachProducer(1));
      case DETACH_CONSUMER -> List.of(new Frame.DetachConsumer(9, 1));
      case CREATE_TEMPORARY ->
          List.of(
              new Frame.CreateTemporary(
                  9, io.lightmq.wire.entry.DestinationKind.TEMPORARY_QUEUE, 1));
      case HEARTBEAT -> List.of(new Frame.Heartbeat());
      case PUBLISH -> List.of(new Frame.Publish(9, 1, 1, 1, ConnectionHarness.run(parts + 100)));
      // Before authentication a frame has at most 16 KiB, and such connections are few.
      case HELLO, AUTH_START, AUTH_RESPONSE -> List.of();
      default -> {
        assertThat(type.isFrom(FrameType.Sender.CLIENT)).as("%s", type).isFalse();
        yield List.of();
      }
    };
  }

  private static Frame admin(String text) {
    return new Frame.Admin(9, "user.add", Map.of("name", text));
  }

  private static String name(String of) {
    return of.substring(0, Math.min(of.length(), 200));
  }

  private static Map<String, String> arguments(int count) {
    Map<String, String> all = new LinkedHashMap<>();
    for (int i = 0; i < Math.min(count, Protocol.MAX_ARGUMENTS); i++) {
      all.put(Integer.toString(i, 36), "");
    }
    return all;
  }

  private static List<Frame.Acked> acked(int consumers, int ranges) {
    List<SequenceRange> each = Collections.nCopies(ranges, new SequenceRange(0, 1, 1));
    return Collections.nCopies(consumers, new Frame.Acked(1, 1, each));
  }

  private static int most(FrameType type, ByteBuf frame) {
    int length = frame.readableBytes();
    if (!FrameHeap.isCommitLike(type.code())) {
      return FrameHeap.most(type.code(), length);
    }
    CommitParts parts = new CommitParts();
    parts.begin(length);
    int at = frame.readerIndex() + 1;
    while (at < frame.writerIndex()) { // as it may come
      at = Math.min(frame.writerIndex(), at + 1 + at % 700);
      parts.pass(frame, at, frame.writerIndex() - at);
    }
    return parts.most();
  }

  private static List<Frame.StagedRun> runs(int count, int bytes) {
    List<Frame.StagedRun> runs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      runs.add(new Frame.StagedRun(40, true, 1, ConnectionHarness.run(bytes)));
    }
    return runs;
  }

  // ---- commits ----

  private static ConnectionHarness committing(DecodeTurns turns) {
    ConnectionSettings large =
        new ConnectionSettings(
            MANY.counts(),
            new ConnectionSettings.Sizes(4 << 20, 4 << 20, 16 << 10, 4 << 20),
            MANY.patience());
    return new ConnectionHarness(large, "127.0.0.1", turns).attached().producer();
  }

  /** They stay the bytes that they are. */
  @ParameterizedTest
  @ValueSource(ints = {20 << 10, 200 << 10, 1 << 20})
  void theMessagesOfACommitAskForNoRoom(int bytes) {
    harness = committing(null);
    int taken = ConnectionHarness.DECODED - 1_000;
    harness.decoded.keep(taken);
    harness.send(new Frame.Commit(10, 1, 1, runs(1, bytes), acked(1, 1)));
    assertThat(harness.decoded.usedBytes()).isEqualTo(taken);
    assertThat(release()).isEqualTo(1);
    harness.send(new Frame.Commit(11, 1, 2, runs(2, bytes / 2), acked(1, 200)));
    assertThat(release()).as("its ranges do").isZero();
    harness.decoded.giveBack(taken);
    harness.channel.runPendingTasks();
    assertThat(release()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {20 << 10, 200 << 10, 1 << 20})
  void theMessagesOfCommitsTakeNoTurnsOfTheLoop(int bytes) {
    List<Runnable> later = new ArrayList<>();
    harness = committing(new DecodeTurns(later::add));
    for (int i = 1; i <= 8; i++) {
      harness.send(new Frame.Commit(10 + i, 1, i, runs(2, bytes / 2), acked(1, 3)));
      assertThat(release()).as("commit %d", i).isEqualTo(1);
    }
    assertThat(later).isEmpty();
  }

  /** Else such a commit would wait until no other connection has anything decoded. */
  @ParameterizedTest
  @ValueSource(ints = {16, 32, 48, 62, 1_024})
  void aLargeCommitFindsRoomOnASmallHeap(int heapMib) {
    CommitParts parts = new CommitParts();
    ByteBuf frame = encode(new Frame.Commit(9, 1, 1, runs(20, 50 << 10), acked(10, 100)));
    int length = frame.readInt();
    parts.begin(length);
    parts.pass(frame, frame.writerIndex(), 0);
    assertThat(parts.most()).isLessThanOrEqualTo((int) FrameHeap.limit((long) heapMib << 20) / 4);
    frame.release();
  }

  /** It is refused when it is decoded; until then it may not keep others from their room. */
  @Test
  void aCommitOfMoreRunsThanAFrameMayHaveAsksForNoMoreThanOthers() {
    int runs = 250_000;
    ByteBuf frame = Unpooled.buffer();
    frame.writeByte(FrameType.COMMIT.code()).writeZero(7);
    frame.writeByte(1).writeByte(1); // session and number
    frame.writeByte(runs & 0x7F | 0x80).writeByte(runs >> 7 & 0x7F | 0x80).writeByte(runs >> 14);
    frame.writeZero(4 * runs + 1); // each empty, and nothing acknowledged
    CommitParts parts = new CommitParts();
    parts.begin(frame.readableBytes());
    parts.pass(frame, frame.writerIndex(), 0);
    assertThat(parts.most())
        .isEqualTo(FrameHeap.most(FrameType.COMMIT.code(), frame.readableBytes()))
        .isLessThan((int) FrameHeap.limit(256 << 20));
  }

  /** Gives back what has come; how many commits that were. */
  private int release() {
    int commits = 0;
    for (Command each : List.copyOf(harness.commands)) {
      if (each instanceof Command.Commit commit) {
        commit.runs().forEach(run -> run.messages().release());
        each.peer().letGo(each.named());
        commits++;
      }
    }
    harness.commands.clear();
    return commits;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 7, 20, 100, 1_000, 8_000})
  void noFrameTakesMoreThanIsReckoned(int parts) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().getId();
    for (FrameType type : FrameType.values()) {
      for (Frame frame : worst(type, parts)) {
        ByteBuf bytes = encode(frame);
        ByteBuf whole = Unpooled.wrappedBuffer(bytes.copy());
        bytes.release();
        int length = whole.readInt();
        int start = whole.readerIndex();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) { // the first time classes are loaded
          whole.readerIndex(start);
          long before = threads.getThreadAllocatedBytes(self);
          Frame decoded = FrameCodec.decode(whole);
          least = Math.min(least, threads.getThreadAllocatedBytes(self) - before);
          FrameCodec.release(decoded);
        }
        assertThat(least)
            .as("%s of %d bytes", type, length)
            .isLessThan(Math.max(most(type, whole.readerIndex(start)), 1_024) + 1_024);
        whole.release();
      }
    }
  }

  @Test
  void aVerbHasAFewArgumentsOnly() {
    Map<String, String> many = new LinkedHashMap<>();
    for (int i = 0; i <= Protocol.MAX_ARGUMENTS; i++) {
      many.put("a" + i, "");
    }
    harness.send(new Frame.Admin(9, "user.add", many));
    assertThat(harness.goodbye().text()).contains("257 arguments", "the limit is 256");
    assertThat(harness.commands).noneMatch(Command.Admin.class::isInstance);
  }
}
