package io.lightmq.node.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.FaultCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No frame of the broker's is longer than what it has told that frames may have. */
class FittingFramesTest {
  private static final int MAX = Integer.MAX_VALUE;
  private static final String LONG = "\u20ac".repeat(1_000);

  private final ConnectionHarness harness = new ConnectionHarness();

  private static void fits(Frame frame, int most) {
    ByteBuf bytes = FrameCodec.encode(frame, UnpooledByteBufAllocator.DEFAULT);
    assertThat(bytes.readableBytes()).isLessThanOrEqualTo(most);
    bytes.release();
  }

  private static void fits(Frame frame) {
    fits(frame, ConnectionHarness.SETTINGS.maxFrameBytes());
  }

  /** Deliveries follow a setting of their own, and what is stored may be from a larger limit. */
  @ParameterizedTest
  @ValueSource(ints = {16, 128 << 10, 512 << 10, 8 << 20, BrokerSettings.MAX_MESSAGE_BYTES})
  void aDeliveryFitsHoweverShortMessagesMayBeNow(int entryBytes) {
    ConnectionHarness small =
        new ConnectionHarness(
            ConnectionHarness.SETTINGS.with(
                new ConnectionSettings.Sizes(1 << 10, 1 << 10, 512 << 10, 8 << 10)),
            "127.0.0.1");
    small.send(Protocol.hello("test"));
    int most = small.sent(Frame.Welcome.class).maxFrameBytes();
    List<Frame.Seen> seen = new ArrayList<>();
    for (int i = 0; entryBytes <= 8 << 20 && i < Protocol.MAX_RUN_MESSAGES; i++) {
      seen.add(new Frame.Seen(i, 1, 254 + i % 2));
    }
    ByteBuf entries = Unpooled.wrappedBuffer(new byte[entryBytes]);
    fits(new Frame.Deliver(MAX, MAX, Protocol.MAX_RUN_MESSAGES, seen, List.of(), entries), most);
    assertThat(most).isLessThanOrEqualTo(Protocol.MAX_FRAME_BYTES);
  }

  @Test
  void allOutcomesThatAreKeptFitIntoTheAnswerToAnAttach() {
    harness.anonymous();
    harness.sent(Frame.AuthDone.class);
    harness.send(new Frame.Attach(1, new UUID(1, 1), 1, 1, null));
    List<Peer.Outcome> outcomes = new ArrayList<>();
    for (int i = 1; i <= 1_024; i++) {
      outcomes.add(new Peer.Outcome(i, FaultCode.DESTINATION_GONE, LONG));
    }
    harness.last(Command.Attach.class).peer().reply(1, new Peer.Reply.Attached(1_024, outcomes, 1));
    Frame.Attached attached = harness.sent(Frame.Attached.class);
    assertThat(attached.outcomes()).hasSize(1_024);
    fits(attached);
  }

  @Test
  void refusalsOfOneTurnAreToldInAsManyFramesAsTheyNeed() {
    harness.attached().producer();
    harness.publish(9, 100);
    Peer peer = harness.peer();
    int count = 0;
    for (int i = 0; i < 4_000; i++) {
      peer.receipt((1 << 30) + i, FaultCode.DESTINATION_GONE, LONG);
    }
    for (Frame frame : harness.sent()) {
      fits(frame);
      count += ((Frame.Receipts) frame).refused().size();
    }
    assertThat(count).isEqualTo(4_000);
  }

  @Test
  void anAnswerToAnAdministratorThatIsTooLongIsToldToBe() throws Exception {
    harness.attached("admin");
    harness.send(new Frame.Admin(9, "destination.list", Map.of()));
    harness
        .last(Command.Admin.class)
        .peer()
        .reply(9, new Peer.Reply.Json("\u20ac".repeat(100_000)));
    Frame.Fault fault = harness.sent(Frame.Fault.class);
    assertThat(fault.code()).isEqualTo(FaultCode.TOO_LARGE);
    assertThat(fault.text()).contains("300000 bytes");
  }

  @Test
  void aFaultThatRepeatsALongTextOfTheClientsIsShort() {
    harness.attached();
    harness.send(new Frame.Unsubscribe(9, "a"));
    harness
        .last(Command.Unsubscribe.class)
        .peer()
        .reply(9, new Peer.Reply.Failed(FaultCode.BAD_REQUEST, LONG.repeat(100)));
    fits(harness.sent(Frame.Fault.class));
  }

  @Test
  void aGoodbyeBeforeTheHandshakeIsOverIsShortEnoughForIt() {
    harness.send(new Frame.Hello(7, 9, 0, "\u20ac".repeat(5_440)));
    fits(harness.goodbye(), Protocol.HANDSHAKE_FRAME_BYTES);
  }
}
