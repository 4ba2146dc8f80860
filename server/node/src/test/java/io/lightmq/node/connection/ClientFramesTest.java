package io.lightmq.node.connection;

import static io.lightmq.node.connection.ConnectionHarness.entry;
import static io.lightmq.node.connection.ConnectionHarness.queue;
import static io.lightmq.node.connection.ConnectionHarness.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.node.credit.CreditLine;
import io.lightmq.spi.Authorizer;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClientFramesTest {
  private final ConnectionHarness harness = new ConnectionHarness();

  @Test
  void aRunBecomesACommandWithTheSameBytesAndItsReceiptGoesBack() {
    harness.attached().producer();
    ByteBuf messages = run(100).setByte(99, 7);
    harness.send(new Frame.Publish(9, 40, 5, 1, messages));
    Command.Publish publish = harness.last(Command.Publish.class);
    assertThat(publish.destinationId()).isEqualTo(40);
    assertThat(publish.number()).isEqualTo(5);
    assertThat(publish.messages().buffer()).isEqualTo(run(100).setByte(99, 7).nioBuffer());
    publish.messages().release();
    publish.peer().receipt(9, FaultCode.OK, "");
    assertThat(harness.sent(Frame.Receipts.class).done()).containsExactly(new Frame.Done(9, 1));
  }

  @Test
  void receiptsOfOneTurnBecomeRangesInOneFrame() {
    harness.attached().producer();
    for (int i = 10; i < 16; i++) {
      harness.publish(i, 100);
    }
    Peer peer = harness.peer();
    for (int i : new int[] {10, 11, 12, 14, 15}) {
      peer.receipt(i, FaultCode.OK, "");
    }
    peer.receipt(13, FaultCode.DESTINATION_GONE, "gone");
    Frame.Receipts receipts = harness.sent(Frame.Receipts.class);
    assertThat(receipts.done()).containsExactly(new Frame.Done(10, 3), new Frame.Done(14, 2));
    assertThat(receipts.refused())
        .containsExactly(new Frame.Fault(13, FaultCode.DESTINATION_GONE, "gone", 0));
  }

  @Test
  void aRunForADestinationThatWasNotAttachedHereIsLeftToTheShardToRefuse() {
    harness.attached().producer();
    harness.send(new Frame.Publish(9, 41, 1, 1, run(100)));
    Command.Publish publish = harness.last(Command.Publish.class);
    assertThat(publish.destinationId()).isEqualTo(Command.NO_DESTINATION);
    assertThat(publish.number()).isEqualTo(1);
    publish.peer().receipt(9, FaultCode.DESTINATION_GONE, "gone");
    assertThat(harness.sent(Frame.Receipts.class).refused())
        .containsExactly(new Frame.Fault(9, FaultCode.DESTINATION_GONE, "gone", 0));
    assertThat(harness.channel.isActive()).isTrue();
  }

  @Test
  void aCommitOfAClosedSessionForAnUnknownDestinationIsLeftToTheShardToAnswer() {
    harness.attached().producer();
    List<Frame.StagedRun> runs =
        List.of(
            new Frame.StagedRun(40, true, 1, run(100)), new Frame.StagedRun(41, true, 1, run(100)));
    harness.send(new Frame.Commit(9, 77, 1, runs, List.of()));
    assertThat(harness.last(Command.Commit.class).runs())
        .extracting(Command.StagedRun::destinationId)
        .containsExactly(40L, Command.NO_DESTINATION);
    assertThat(harness.channel.isActive()).isTrue();
  }

  @Test
  void closingWhatIsNotOpenIsDone() {
    harness.attached();
    harness.send(new Frame.CloseSession(20, 77));
    assertThat(harness.last(Command.CloseSession.class).sessionId()).isEqualTo(77);
    harness.send(new Frame.DetachConsumer(21, 78));
    assertThat(harness.last(Command.DetachConsumer.class).consumerId()).isEqualTo(78);
    harness.send(new Frame.DetachProducer(79));
    harness.peer().reply(20, new Peer.Reply.Ok());
    harness.peer().reply(21, new Peer.Reply.Ok());
    assertThat(harness.sent()).containsExactly(new Frame.Ok(20), new Frame.Ok(21));
  }

  @Test
  void limitsAreNamedInTheError() {
    harness.attached();
    harness.send(new Frame.OpenSession(3, 2));
    harness.send(new Frame.OpenSession(4, 3));
    harness.sent();
    harness.send(new Frame.OpenSession(5, 4));
    assertLimit("3 sessions");
    for (int i = 0; i < 5; i++) {
      harness.send(new Frame.AttachProducer(10 + i, i, 1, queue("q")));
    }
    harness.send(new Frame.AttachProducer(20, 9, 1, queue("q")));
    assertLimit("5 producers");
    for (int i = 0; i < 4; i++) {
      harness.send(consumer(30 + i, i));
    }
    harness.send(consumer(40, 9));
    assertLimit("4 consumers");
  }

  private void assertLimit(String named) {
    Frame.Fault fault = harness.sent(Frame.Fault.class);
    assertThat(fault.code()).isEqualTo(FaultCode.LIMIT_REACHED);
    assertThat(fault.text()).contains(named);
    assertThat(harness.channel.isActive()).isTrue();
  }

  private static Frame.AttachConsumer consumer(int correlation, int consumerId) {
    return new Frame.AttachConsumer(
        correlation, consumerId, 1, queue("q"), Frame.Subscribe.QUEUE, null, null, false, false);
  }

  @Test
  void aRefusedAttachGivesItsPlaceBack() {
    harness.attached();
    for (int i = 0; i < 20; i++) {
      harness.send(consumer(10 + i, i));
      harness.peer().reply(10 + i, new Peer.Reply.Failed(FaultCode.INVALID_DESTINATION, "no"));
      assertThat(harness.sent(Frame.Fault.class).code()).isEqualTo(FaultCode.INVALID_DESTINATION);
    }
  }

  @Test
  void closingASessionGivesBackItsProducersAndConsumers() {
    harness.attached();
    for (int i = 0; i < 4; i++) {
      harness.send(consumer(10 + i, i));
    }
    harness.send(new Frame.CloseSession(20, 1));
    assertThat(harness.last(Command.CloseSession.class).sessionId()).isEqualTo(1);
    harness.send(new Frame.OpenSession(21, 1));
    harness.sent(Frame.Ok.class);
    harness.send(consumer(22, 0));
    harness.last(Command.AttachConsumer.class);
  }

  @Test
  void aRunOfAClosedProducerMayStillBeSentAgain() {
    harness.attached().producer();
    harness.send(new Frame.DetachProducer(1));
    harness.publish(9, 100);
    harness.last(Command.Publish.class);
  }

  @Test
  void attachingToASessionThatIsNotOpenIsRefusedAndTheConnectionGoesOn() {
    harness.attached().send(new Frame.AttachProducer(5, 1, 77, queue("q")));
    assertThat(harness.sent(Frame.Fault.class).text()).contains("session 77");
    harness.send(
        new Frame.AttachConsumer(
            6, 1, 77, queue("q"), Frame.Subscribe.QUEUE, null, null, false, false));
    assertThat(harness.sent(Frame.Fault.class).code()).isEqualTo(FaultCode.BAD_REQUEST);
    assertThat(harness.channel.isActive()).isTrue();
  }

  @Test
  void anIdThatIsUsedTwiceIsAViolation() {
    harness.attached().send(new Frame.OpenSession(5, 1));
    assertThat(harness.goodbye().text()).contains("session 1 is open already");
  }

  @ParameterizedTest
  @CsvSource({
    "ada, true, true, true, false",
    "admin, true, true, true, true",
    "'', true, true, true, false"
  })
  void rightsByUserAndVerb(
      String user, boolean send, boolean consume, boolean create, boolean manage) throws Exception {
    if (user.isEmpty()) {
      harness.attached();
    } else {
      harness.attached(user);
    }
    harness.send(new Frame.AttachProducer(10, 1, 1, queue("q")));
    assertThat(reached(Command.AttachProducer.class)).isEqualTo(send);
    assertThat(harness.last(Command.AttachProducer.class).mayCreate()).isEqualTo(create);
    harness.send(consumer(11, 1));
    assertThat(reached(Command.AttachConsumer.class)).isEqualTo(consume);
    harness.send(new Frame.CreateTemporary(12, DestinationKind.TEMPORARY_QUEUE));
    assertThat(reached(Command.CreateTemporary.class)).isEqualTo(create);
    harness.send(new Frame.Admin(13, "destination.list", Map.of()));
    assertThat(reached(Command.Admin.class)).isEqualTo(manage);
    harness.send(new Frame.Admin(14, "destination.delete", Map.of("name", "q")));
    if (!manage) {
      assertThat(harness.sent())
          .allSatisfy(
              frame ->
                  assertThat(((Frame.Fault) frame).code()).isEqualTo(FaultCode.NOT_AUTHORIZED));
    } else {
      assertThat(harness.sent()).isEmpty();
    }
  }

  private boolean reached(Class<? extends Command> type) {
    return type.isInstance(harness.commands.get(harness.commands.size() - 1));
  }

  @Test
  void pullsAreCutToTheLimitsAndSplitByConsumer() {
    harness.attached();
    harness.send(
        new Frame.Pull(
            List.of(
                new Frame.PullOne(1, 5, 10, 1 << 30, 1 << 30), new Frame.PullOne(2, 6, 1, 1, 0))));
    assertThat(harness.commands)
        .containsExactly(
            new Command.Pull(harness.peer(), 1, 5, 10, 16 << 10, 60_000),
            new Command.Pull(harness.peer(), 2, 6, 1, 1, 0));
  }

  @Test
  void acknowledgementsAndReturnsKeepTheirRanges() {
    harness.attached();
    SequenceRange range = new SequenceRange(4, 100, 7);
    harness.send(new Frame.Acknowledge(0, List.of(new Frame.Acked(3, 40, List.of(range)))));
    assertThat(harness.last(Command.Acknowledge.class).acked())
        .containsExactly(new Command.Acked(3, 40, List.of(range)));
    harness.send(new Frame.Return(8, List.of(new Frame.Acked(3, 40, List.of(range))), true, null));
    assertThat(harness.last(Command.Return.class).attempted()).isTrue();
  }

  @Test
  void aDeliveryLeavesAsOneFrameWithItsExceptions() {
    harness.attached().send(new Frame.SetClientId(5, "c"));
    Peer peer = harness.peer();
    Peer.OutBuffer room = peer.allocate(200);
    room.bytes().put(entry(100).put(99, (byte) 7));
    peer.deliver(new Peer.Delivery(1, 2, 1, List.of(new Peer.Seen(0, 1, 2)), room, 100));
    Frame.Deliver deliver = harness.sent(Frame.Deliver.class);
    assertThat(deliver.seen()).containsExactly(new Frame.Seen(0, 1, 2));
    assertThat(deliver.entries().nioBuffer()).isEqualTo(entry(100).put(99, (byte) 7));
  }

  @Test
  void deliveriesPauseWhenTooMuchWaitsAndTheShardIsToldWhenThereIsRoom() {
    harness.attached().send(new Frame.SetClientId(5, "c"));
    Peer peer = harness.peer();
    harness.commands.clear();
    assertThat(peer.writable()).isTrue();
    Peer.OutBuffer room = peer.allocate(16 << 10);
    room.bytes().put(entry(16 << 10));
    peer.deliver(new Peer.Delivery(1, 1, 1, List.of(), room, 16 << 10));
    assertThat(peer.writable()).isFalse();
    assertThat(harness.commands).isEmpty();
    harness.sent(Frame.Deliver.class);
    harness.last(Command.Writable.class);
    assertThat(peer.writable()).isTrue();
  }

  @Test
  void aBufferThatIsBeingFilledCountsAsWaitingUntilItIsGivenBack() {
    harness.attached().send(new Frame.SetClientId(5, "c"));
    Peer peer = harness.peer();
    harness.commands.clear();
    Peer.OutBuffer room = peer.allocate(16 << 10);
    assertThat(peer.writable()).isFalse();
    room.release();
    harness.channel.runPendingTasks();
    harness.last(Command.Writable.class);
    assertThat(peer.writable()).isTrue();
  }

  @Test
  void whoFindsRoomInItsOwnBufferAgainLooksAgainForRoomInTheSharedOne() {
    harness.attached().send(new Frame.SetClientId(5, "c"));
    Peer peer = harness.peer();
    harness.commands.clear();
    Peer.OutBuffer room = peer.allocate(16 << 10);
    room.bytes().put(entry(16 << 10));
    peer.deliver(new Peer.Delivery(1, 1, 1, List.of(), room, 16 << 10));
    assertThat(peer.writable()).as("its own buffer is full").isFalse();
    harness.deliveries.take(1 << 20);
    harness.sent(Frame.Deliver.class);
    assertThat(harness.commands).as("the shared one is full").isEmpty();
    harness.deliveries.giveBack(1 << 20);
    harness.channel.advanceTimeBy(1, TimeUnit.SECONDS);
    harness.channel.runScheduledPendingTasks();
    harness.last(Command.Writable.class);
  }

  @Test
  void endedPullsOfOneTurnTravelTogether() {
    harness.attached().send(new Frame.SetClientId(5, "c"));
    harness.peer().pullDone(1, 2, FaultCode.OK, 0);
    harness.peer().pullDone(3, 4, FaultCode.RETRY_LATER, 250);
    assertThat(harness.sent(Frame.PullDone.class).ends())
        .containsExactly(
            new Frame.PullEnd(1, 2, FaultCode.OK, 0),
            new Frame.PullEnd(3, 4, FaultCode.RETRY_LATER, 250));
  }

  @Test
  void creditIsAnnouncedOnceAQuarterOfTheWindowIsFree() {
    harness.attached().producer();
    List<Command.Publish> held = new ArrayList<>();
    for (int i = 10; i < 14; i++) {
      harness.publish(i, 16 << 10);
      held.add(harness.last(Command.Publish.class));
    }
    assertThat(harness.sent()).isEmpty();
    held.get(0).messages().release();
    long first = harness.sent(Frame.Credit.class).totalBytes();
    assertThat(first).isGreaterThanOrEqualTo((64 << 10) + (16 << 10));
  }

  @Test
  void aClientThatIgnoresItsCreditIsEnded() {
    harness.attached().producer();
    for (int i = 10; i < 14; i++) {
      harness.publish(i, 16 << 10);
    }
    harness.publish(20, 16 << 10);
    assertThat(harness.goodbye().text()).contains("credit");
  }

  @Test
  void oneRunMayGoBeyondTheCreditThatIsLeft() {
    harness.attached().producer();
    harness.publish(10, 60 << 10);
    harness.publish(11, 60 << 10);
    assertThat(harness.commands).hasSize(2);
    assertThat(harness.channel.isActive()).isTrue();
  }

  private static void append(ByteBuf together, Frame frame) {
    ByteBuf bytes = FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
    together.writeBytes(bytes);
    bytes.release();
  }

  @Test
  void runsThatArriveTogetherAreCountedOneByOne() {
    harness.attached().producer();
    ByteBuf together = Unpooled.buffer();
    for (int i = 10; i < 20; i++) {
      Frame.Publish publish = new Frame.Publish(i, 40, i, 1, run(16 << 10));
      append(together, publish);
    }
    harness.sendBytes(together);
    assertThat(harness.goodbye().text()).contains("without any publish credit left");
    assertThat(harness.commands.stream().filter(Command.Publish.class::isInstance)).hasSize(4);
  }

  @Test
  void aRunInSmallPiecesIsCountedOnce() {
    harness.attached().producer();
    for (int i = 10; i < 13; i++) {
      Frame.Publish publish = new Frame.Publish(i, 40, i, 1, run(16 << 10));
      ByteBuf bytes = FrameCodec.encode(publish, UnpooledByteBufAllocator.DEFAULT);
      while (bytes.isReadable()) {
        harness.sendBytes(bytes.readBytes(Math.min(bytes.readableBytes(), 1_000)));
      }
      bytes.release();
      harness.last(Command.Publish.class);
    }
    assertThat(harness.channel.isActive()).isTrue();
  }

  @Test
  void aLargeRunWaitsUnreadUntilThereIsRoomAndWhatIsBehindItWaitsToo() {
    harness.attached().producer();
    CreditLine other = harness.ledger.open();
    List<CreditLine> idle = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      idle.add(harness.ledger.open());
    }
    other.admit(harness.ledger.settings().largestRunBytes(), () -> {});
    ByteBuf together = Unpooled.buffer();
    Frame.Publish large = new Frame.Publish(10, 40, 1, 1, run(120 << 10));
    append(together, large);
    append(together, new Frame.SetClientId(11, "c"));
    harness.sendBytes(together);
    assertThat(harness.commands).isEmpty();
    assertThat(harness.channel.config().isAutoRead()).isFalse();
    idle.forEach(CreditLine::close);
    other.close();
    harness.channel.runPendingTasks();
    assertThat(harness.commands).hasSize(2);
    assertThat(harness.channel.config().isAutoRead()).isTrue();
  }

  @Test
  void tooManyOpenRequestsStopReadingUntilTheyAreAnswered() {
    harness.attached();
    for (int i = 0; i < 16; i++) {
      harness.send(new Frame.Unsubscribe(100 + i, "s"));
    }
    assertThat(harness.channel.config().isAutoRead()).isFalse();
    Peer peer = harness.peer();
    peer.reply(100, new Peer.Reply.Ok());
    harness.sent(Frame.Ok.class);
    assertThat(harness.channel.config().isAutoRead()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void tooManyCommandsThatWantNoAnswerStopReadingUntilHalfAreCarriedOut(boolean pulls) {
    harness.attached();
    for (int i = 0; i < 16; i++) {
      assertThat(harness.channel.config().isAutoRead()).isTrue();
      harness.send(
          pulls
              ? new Frame.Pull(List.of(new Frame.PullOne(1, i, 10, 100, 0)))
              : new Frame.Acknowledge(0, List.of()));
    }
    assertThat(harness.channel.config().isAutoRead()).isFalse();
    Peer peer = harness.peer();
    for (int i = 0; i < 8; i++) {
      harness.channel.runPendingTasks();
      assertThat(harness.channel.config().isAutoRead()).isFalse();
      peer.carriedOut();
    }
    harness.channel.runPendingTasks();
    assertThat(harness.channel.config().isAutoRead()).isTrue();
  }

  @Test
  void aLostConnectionIsToldToTheShardOnceAndFreesItsCredit() {
    harness.attached().producer();
    harness.publish(10, 1_000);
    Command.Publish publish = harness.last(Command.Publish.class);
    harness.channel.close();
    harness.channel.runPendingTasks();
    assertThat(harness.last(Command.Detach.class).clean()).isFalse();
    assertThat(harness.ledger.exposedBytes()).isEqualTo(1_000);
    publish.messages().release();
    assertThat(harness.ledger.exposedBytes()).isZero();
    assertThat(harness.commands.stream().filter(Command.Detach.class::isInstance)).hasSize(1);
  }

  @Test
  void aGoodbyeIsACleanEnd() {
    harness.attached().send(new Frame.Goodbye(FaultCode.OK, ""));
    assertThat(harness.last(Command.Detach.class).clean()).isTrue();
  }

  @Test
  void whatTheShardSendsAfterTheEndIsReleased() {
    harness.attached().send(new Frame.SetClientId(5, "c"));
    Peer peer = harness.peer();
    harness.channel.close();
    Peer.OutBuffer room = peer.allocate(100);
    peer.deliver(new Peer.Delivery(1, 1, 1, List.of(), room, 10));
    harness.channel.runPendingTasks();
    assertThatThrownBy(room::release).isInstanceOf(IllegalReferenceCountException.class);
  }

  @Test
  void theBrokerEndsAConnectionWithItsReason() {
    harness.attached().send(new Frame.SetClientId(5, "c"));
    harness.peer().disconnect(FaultCode.BROKER_FAILED, "the journal failed");
    Frame.Goodbye goodbye = harness.goodbye();
    assertThat(goodbye.code()).isEqualTo(FaultCode.BROKER_FAILED);
    assertThat(goodbye.text()).isEqualTo("the journal failed");
  }

  /** Whoever manages one destination is told apart from whoever manages the broker. */
  @ParameterizedTest
  @CsvSource({
    "destination.show, name, true",
    "destination.create, name, true",
    "destination.set, name, true",
    "destination.delete, name, true",
    "destination.purge, name, true",
    "destination.list, name, false",
    "destination.purge, queue, false",
    "user.add, name, false",
    "user.set-password, name, false",
    "user.remove, name, false",
    "user.list, name, false",
    "dead-letters.list, name, false",
    "dead-letters.retry, queue, false",
    "delayed.cancel, name, false",
    "damaged.drop, destination, false",
    "subscription.delete, topic, false",
    "unheard-of, name, false",
  })
  void whoManagesOneDestinationManagesNothingElse(String verb, String argument, boolean permitted)
      throws Exception {
    harness.authorizer =
        (user, action, name) -> action != Authorizer.Action.MANAGE || name.equals("mine");
    harness.attached("ada");
    harness.send(new Frame.Admin(9, verb, Map.of(argument, "mine", "role", "admin")));
    assertThat(harness.nodeVerbs).isEmpty();
    if (permitted) {
      assertThat(harness.last(Command.Admin.class).verb()).isEqualTo(verb);
    } else {
      assertThat(harness.sent(Frame.Fault.class).code()).isEqualTo(FaultCode.NOT_AUTHORIZED);
      assertThat(harness.commands).isEmpty();
    }
    assertThat(harness.channel.isActive()).isTrue();
  }
}
