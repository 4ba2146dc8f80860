package io.lightmq.wire;

import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.BranchState;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import io.lightmq.wire.entry.Xid;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;

/** Arbitrary frames, from a seed that jqwik reports and shrinks. */
final class FrameArbitraries {
  private final Random random;

  private FrameArbitraries(long seed) {
    this.random = new Random(seed);
  }

  /** The same seed makes the same frame, so that a test can build an equal one to compare. */
  record Seeded(FrameType type, long seed) {
    Frame frame() {
      return new FrameArbitraries(seed).frame(type);
    }
  }

  static Arbitrary<Seeded> frames() {
    return Arbitraries.of(FrameType.class)
        .flatMap(type -> Arbitraries.longs().map(seed -> new Seeded(type, seed)));
  }

  private Frame frame(FrameType type) {
    return switch (type) {
      case HELLO -> new Frame.Hello(number(), number(), random.nextLong(), text());
      case WELCOME ->
          new Frame.Welcome(
              number(), random.nextLong(), uuid(), number(), number(), number(), number());
      case AUTH_START -> new Frame.AuthStart(text(), bytes());
      case AUTH_CHALLENGE -> new Frame.AuthChallenge(bytes());
      case AUTH_RESPONSE -> new Frame.AuthResponse(bytes());
      case AUTH_DONE -> new Frame.AuthDone(bytes(), big(), text());
      case ATTACH -> new Frame.Attach(id(), uuid(), big(), big(), maybe());
      case ATTACHED ->
          new Frame.Attached(
              id(), big(), list(() -> new Frame.NumberedOutcome(big(), code(), text())), big());
      case SET_CLIENT_ID -> new Frame.SetClientId(id(), text());
      case OK -> new Frame.Ok(id());
      case FAULT -> fault(number());
      case GOODBYE -> new Frame.Goodbye(code(), text());
      case HEARTBEAT -> new Frame.Heartbeat();
      case OPEN_SESSION -> new Frame.OpenSession(id(), number());
      case CLOSE_SESSION -> new Frame.CloseSession(id(), number());
      case ATTACH_PRODUCER -> new Frame.AttachProducer(id(), number(), number(), destination());
      case PRODUCER_ATTACHED -> new Frame.ProducerAttached(id(), big());
      case DETACH_PRODUCER -> new Frame.DetachProducer(number());
      case ATTACH_CONSUMER ->
          new Frame.AttachConsumer(
              id(),
              number(),
              number(),
              destination(),
              Frame.Subscribe.values()[random.nextInt(6)],
              maybe(),
              maybe(),
              random.nextBoolean(),
              random.nextBoolean());
      case CONSUMER_ATTACHED -> new Frame.ConsumerAttached(id(), big());
      case DETACH_CONSUMER -> new Frame.DetachConsumer(id(), number());
      case UNSUBSCRIBE -> new Frame.Unsubscribe(id(), text());
      case CREATE_TEMPORARY -> new Frame.CreateTemporary(id(), destination().kind());
      case TEMPORARY_CREATED -> new Frame.TemporaryCreated(id(), destination());
      case DELETE_TEMPORARY -> new Frame.DeleteTemporary(id(), destination());
      case PUBLISH -> {
        String[] texts = texts();
        yield new Frame.Publish(id(), big(), big(), texts.length, SampleFrames.run(texts));
      }
      case RECEIPTS ->
          new Frame.Receipts(
              list(() -> new Frame.Done(1 + random.nextInt(1 << 30), 1 + random.nextInt(99))),
              list(() -> fault(number())));
      case CREDIT -> new Frame.Credit(big());
      case COMMIT ->
          new Frame.Commit(
              id(),
              number(),
              big(),
              list(this::stagedRun),
              acked(),
              random.nextBoolean() ? new Frame.Part(branch(), above0()) : null);
      case STAGE ->
          new Frame.Stage(id(), number(), big(), list(this::stagedRun), acked(), branch());
      case STAGED -> new Frame.Staged(id(), above0());
      case PREPARE ->
          new Frame.Prepare(id(), number(), above0(), list(this::stagedRun), acked(), xid(), big());
      case DECIDE ->
          new Frame.Decide(id(), above0(), xid(), BranchDecision.values()[random.nextInt(3)]);
      case ABANDON -> new Frame.Abandon(id(), branch(), random.nextBoolean());
      case RECOVER ->
          new Frame.Recover(
              id(),
              1 + random.nextInt(Protocol.MAX_RECOVERED),
              random.nextBoolean() ? xid() : null);
      case RECOVERED ->
          new Frame.Recovered(
              id(),
              list(() -> new Frame.RecoveredBranch(xid(), BranchState.values()[random.nextInt(3)])),
              random.nextBoolean());
      case PULL ->
          new Frame.Pull(
              list(() -> new Frame.PullOne(number(), number(), number(), number(), number())));
      case PULL_DONE ->
          new Frame.PullDone(list(() -> new Frame.PullEnd(number(), number(), code(), number())));
      case DELIVER -> deliver();
      case ACKNOWLEDGE -> new Frame.Acknowledge(number(), acked());
      case RETURN ->
          new Frame.Return(
              number(), acked(), random.nextBoolean(), random.nextBoolean() ? text() : null);
      case BEGUN -> new Frame.Begun(id(), random.nextBoolean(), acked());
      case ADMIN -> new Frame.Admin(id(), text(), Map.of("a", text(), "b" + text(), text()));
      case ADMIN_RESULT -> new Frame.AdminResult(id(), text());
    };
  }

  private Frame.Deliver deliver() {
    int count = 1 + random.nextInt(5);
    List<Frame.Seen> seen = new ArrayList<>();
    List<Frame.Reference> references = new ArrayList<>();
    for (int i = 0; i < count; i += 2) {
      if (random.nextBoolean()) {
        seen.add(new Frame.Seen(i, 1, random.nextInt(256)));
      }
      if (random.nextBoolean()) {
        references.add(new Frame.Reference(i, Math.min(2, count - i), big(), big(), big()));
      }
    }
    ByteBuf entries = SampleFrames.entries(count);
    return new Frame.Deliver(number(), number(), count, seen, references, entries);
  }

  private Frame.StagedRun stagedRun() {
    String[] texts = texts();
    return new Frame.StagedRun(big(), random.nextBoolean(), texts.length, SampleFrames.run(texts));
  }

  /** Now and then longer than what the writer copies. */
  private String[] texts() {
    String[] texts = new String[1 + random.nextInt(4)];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = random.nextInt(8) == 0 ? "x".repeat(random.nextInt(10_000)) : text();
    }
    return texts;
  }

  private List<Frame.Acked> acked() {
    return list(() -> new Frame.Acked(number(), big(), list(this::range)));
  }

  private SequenceRange range() {
    int lane = random.nextInt(10) | (random.nextBoolean() ? 0x80 : 0);
    long sequence = (long) random.nextInt(Integer.MAX_VALUE) << 32 | random.nextInt(1 << 30);
    return new SequenceRange(lane, sequence, 1 + random.nextInt(5000));
  }

  private Frame.Fault fault(int correlation) {
    return new Frame.Fault(correlation, code(), text(), number());
  }

  private FaultCode code() {
    return FaultCode.values()[random.nextInt(FaultCode.values().length)];
  }

  private DestinationName destination() {
    DestinationKind kind = DestinationKind.values()[random.nextInt(4)];
    return new DestinationName(kind, "d" + random.nextInt());
  }

  /** All magnitudes, so that all lengths of varints occur. */
  private int number() {
    return random.nextInt() >>> 1 + random.nextInt(31);
  }

  private int id() {
    return Math.max(1, number());
  }

  private long big() {
    return random.nextLong() >>> 1 + random.nextInt(63);
  }

  private long above0() {
    return Math.max(1, big());
  }

  private Branch branch() {
    return random.nextBoolean() ? new Branch.Local(above0()) : new Branch.Xa(xid());
  }

  private Xid xid() {
    byte[] globalId = new byte[1 + random.nextInt(Xid.MAX_PART_BYTES)];
    byte[] qualifier = new byte[random.nextInt(Xid.MAX_PART_BYTES + 1)];
    random.nextBytes(globalId);
    random.nextBytes(qualifier);
    return new Xid(random.nextInt(), globalId, qualifier);
  }

  private UUID uuid() {
    return new UUID(random.nextLong(), random.nextLong());
  }

  private byte[] bytes() {
    byte[] bytes = new byte[random.nextInt(300)];
    random.nextBytes(bytes);
    return bytes;
  }

  private String maybe() {
    return random.nextInt(4) == 0 ? null : text();
  }

  private String text() {
    int length = random.nextInt(4) == 0 ? random.nextInt(300) : random.nextInt(8);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      int point = random.nextInt(3) == 0 ? random.nextInt(0x110000) : 32 + random.nextInt(95);
      text.appendCodePoint(point >= 0xD800 && point < 0xE000 ? 'x' : point);
    }
    return text.toString();
  }

  private interface Item<T> {
    T make();
  }

  private <T> List<T> list(Item<T> item) {
    int count = random.nextInt(4) == 0 ? random.nextInt(150) : random.nextInt(4);
    List<T> items = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      items.add(item.make());
    }
    return items;
  }
}
