package io.lightmq.wire;

import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.BranchState;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.EntryStamp;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageWriter;
import io.lightmq.wire.entry.SequenceRange;
import io.lightmq.wire.entry.Xid;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** One frame of each type with every field set, for golden files and mutations. */
final class SampleFrames {
  static final Xid XID = new Xid(131_077, new byte[] {1, 2, (byte) 0xFF}, new byte[] {4, 0});
  static final UUID ID = new UUID(0x0123456789abcdefL, 0xfedcba9876543210L);
  private static final DestinationName ORDERS =
      new DestinationName(DestinationKind.QUEUE, "orders");
  private static final List<Frame.Acked> ACKED =
      List.of(
          new Frame.Acked(
              7,
              300,
              List.of(
                  new SequenceRange(4, (1L << 32) | 5, 3), new SequenceRange(0x84, 2L << 32, 1))),
          new Frame.Acked(8, 301, List.of()));

  private SampleFrames() {}

  static Map<FrameType, Frame> all() {
    Map<FrameType, Frame> frames = new TreeMap<>();
    for (Frame frame : list()) {
      frames.put(FrameCodec.typeOf(frame), frame);
    }
    return frames;
  }

  /** The frames with fields of features, by their golden files. */
  static Map<String, Frame> ofFeatures() {
    Map<String, Frame> frames = new TreeMap<>();
    Frame.Attached attached = (Frame.Attached) all().get(FrameType.ATTACHED);
    frames.put(
        "frame-attached-known",
        new Frame.Attached(
            attached.correlation(),
            attached.last(),
            attached.outcomes(),
            attached.creditBytes(),
            1));
    frames.put(
        "frame-create_temporary-by_link",
        new Frame.CreateTemporary(14, DestinationKind.TEMPORARY_TOPIC, 300));
    frames.put("frame-commit-staged_local", committing(new Branch.Local(3)));
    frames.put("frame-commit-staged_xa", committing(new Branch.Xa(XID)));
    return frames;
  }

  private static Frame committing(Branch branch) {
    Frame.Commit commit = (Frame.Commit) all().get(FrameType.COMMIT);
    return new Frame.Commit(
        commit.correlation(),
        commit.sessionId(),
        commit.number(),
        commit.runs(),
        commit.acked(),
        new Frame.Part(branch, 900));
  }

  private static List<Frame> list() {
    Map<String, String> arguments = new LinkedHashMap<>();
    arguments.put("name", "orders");
    arguments.put("tier", "high");
    List<Frame> frames = new ArrayList<>();
    frames.add(new Frame.Hello(1, 3, 5, "LightMQ client 0.1"));
    frames.add(new Frame.Welcome(1, 4, ID, 16 << 20, 4 << 20, 1 << 20, 10_000));
    frames.add(new Frame.AuthStart("SCRAM-SHA-256", new byte[] {1, 2, 3}));
    frames.add(new Frame.AuthChallenge(new byte[] {4, 5}));
    frames.add(new Frame.AuthResponse(new byte[] {6}));
    frames.add(new Frame.AuthDone(new byte[] {}, 129, "jörg"));
    frames.add(new Frame.Attach(1, ID, 3, 200, "client-1"));
    frames.add(
        new Frame.Attached(
            2,
            250,
            List.of(
                new Frame.NumberedOutcome(201, FaultCode.DISK_FULL, "disk full"),
                new Frame.NumberedOutcome(202, FaultCode.OK, "")),
            1 << 20));
    frames.add(new Frame.SetClientId(3, "client-2"));
    frames.add(new Frame.Ok(4));
    frames.add(new Frame.Fault(5, FaultCode.RETRY_LATER, "later", 1500));
    frames.add(new Frame.Goodbye(FaultCode.CLOSING, "bye"));
    frames.add(new Frame.Heartbeat());
    frames.add(new Frame.OpenSession(6, 1));
    frames.add(new Frame.CloseSession(7, 1));
    frames.add(new Frame.AttachProducer(8, 2, 1, ORDERS));
    frames.add(new Frame.ProducerAttached(9, 300));
    frames.add(new Frame.DetachProducer(2));
    frames.add(
        new Frame.AttachConsumer(
            10,
            7,
            1,
            new DestinationName(DestinationKind.TOPIC, "prices"),
            Frame.Subscribe.SHARED_DURABLE,
            "audit",
            "a > 1",
            true,
            true));
    frames.add(new Frame.ConsumerAttached(11, 301));
    frames.add(new Frame.DetachConsumer(12, 7));
    frames.add(new Frame.Unsubscribe(13, "audit"));
    frames.add(new Frame.CreateTemporary(14, DestinationKind.TEMPORARY_TOPIC));
    frames.add(
        new Frame.TemporaryCreated(
            15, new DestinationName(DestinationKind.TEMPORARY_TOPIC, "tmp-1")));
    frames.add(
        new Frame.DeleteTemporary(
            16, new DestinationName(DestinationKind.TEMPORARY_TOPIC, "tmp-1")));
    frames.add(new Frame.Publish(17, 300, 251, 2, run("one", "two")));
    frames.add(
        new Frame.Receipts(
            List.of(new Frame.Done(17, 3), new Frame.Done(30, 1)),
            List.of(new Frame.Fault(20, FaultCode.MEMORY_FULL, "full", 10))));
    frames.add(new Frame.Credit(3_000_000_000L));
    frames.add(
        new Frame.Commit(
            18,
            1,
            252,
            List.of(
                new Frame.StagedRun(300, true, 1, run("a")),
                new Frame.StagedRun(301, false, 2, run("b", "c"))),
            ACKED));
    frames.add(
        new Frame.Stage(
            23,
            1,
            900,
            List.of(new Frame.StagedRun(300, true, 1, run("a"))),
            ACKED,
            new Branch.Xa(XID)));
    frames.add(new Frame.Staged(24, 900));
    frames.add(
        new Frame.Prepare(
            25, 1, 253, List.of(new Frame.StagedRun(300, true, 1, run("a"))), ACKED, XID, 900));
    frames.add(new Frame.Decide(26, 254, XID, BranchDecision.ROLL_BACK));
    frames.add(new Frame.Abandon(27, new Branch.Local(300), true));
    frames.add(new Frame.Recover(28, Protocol.MAX_RECOVERED, XID));
    frames.add(
        new Frame.Recovered(
            29,
            List.of(
                new Frame.RecoveredBranch(XID, BranchState.PREPARED),
                new Frame.RecoveredBranch(
                    new Xid(-2, new byte[] {1}, new byte[0]), BranchState.HEURISTICALLY_COMMITTED)),
            true));
    frames.add(
        new Frame.Pull(
            List.of(
                new Frame.PullOne(7, 1, 1000, 2 << 20, 500), new Frame.PullOne(8, 2, 16, 1, 0))));
    frames.add(
        new Frame.PullDone(
            List.of(
                new Frame.PullEnd(7, 1, FaultCode.OK, 0),
                new Frame.PullEnd(8, 2, FaultCode.RETRY_LATER, 250))));
    frames.add(
        new Frame.Deliver(
            7,
            3,
            3,
            List.of(new Frame.Seen(0, 1, 2), new Frame.Seen(2, 1, 255)),
            List.of(new Frame.Reference(1, 2, 77, (1L << 32) | 4096, 10)),
            entries(3)));
    frames.add(new Frame.Acknowledge(19, ACKED));
    frames.add(new Frame.Return(20, ACKED, true, "java.lang.IllegalStateException: no"));
    frames.add(new Frame.Begun(3, true, ACKED));
    frames.add(new Frame.Admin(21, "destination.create", arguments));
    frames.add(new Frame.AdminResult(22, "{\"ok\":true}"));
    return frames;
  }

  static byte[] message(String text) {
    MessageWriter writer = new MessageWriter(4 << 20);
    writer.start(BodyType.TEXT, 4, true, 0, 0).textBody(text).finish();
    return writer.toByteArray();
  }

  static ByteBuf run(String... texts) {
    ByteBuf run = Unpooled.buffer();
    for (String text : texts) {
      byte[] message = message(text);
      run.writeInt(message.length).writeBytes(message);
    }
    return run;
  }

  static ByteBuf entries(int count) {
    ByteBuf entries = Unpooled.buffer();
    EntryStamp stamp =
        new EntryStamp(4, Entry.PERSISTENT, 300, 1_700_000_000_000L, 129, new byte[] {'u'});
    for (int i = 0; i < count; i++) {
      byte[] message = message("entry " + i);
      byte[] entry = new byte[Entry.entryBytes(stamp, message.length)];
      Entry.write(
          ByteBuffer.wrap(entry),
          0,
          stamp,
          (1L << 32) | i,
          0,
          ByteBuffer.wrap(message),
          0,
          message.length);
      entries.writeBytes(entry);
    }
    return entries;
  }
}
