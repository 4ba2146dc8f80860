package io.lightmq.wire;

import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.SequenceRange;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * The fields of every frame, written and read side by side. {@code docs/protocol.md} draws them; a
 * golden file pins each.
 */
final class FrameFormats {
  private static final Map<FrameType, Format<?>> BY_TYPE = new EnumMap<>(FrameType.class);
  private static final Map<Class<?>, Format<?>> BY_CLASS = new HashMap<>();

  private static final Frame.Subscribe[] SUBSCRIBES = Frame.Subscribe.values();

  /** Reads the fields behind the header. */
  private interface Reads<F extends Frame> {
    F read(FrameReader in, int correlation);
  }

  /** How one type of frame is written and read. */
  record Format<F extends Frame>(
      FrameType type, Class<F> frame, BiConsumer<FrameWriter, F> writes, Reads<F> reads) {

    void write(FrameWriter out, Frame value) {
      writes.accept(out, frame.cast(value));
    }

    Frame read(FrameReader in, int correlation) {
      return reads.read(in, correlation);
    }
  }

  private FrameFormats() {}

  static Format<?> of(FrameType type) {
    Format<?> format = BY_TYPE.get(type);
    if (format == null) {
      throw new AssertionError("no format for " + type);
    }
    return format;
  }

  static Format<?> of(Frame frame) {
    Format<?> format = BY_CLASS.get(frame.getClass());
    if (format == null) {
      throw new AssertionError("no format for " + frame.getClass());
    }
    return format;
  }

  private static <F extends Frame> void add(
      FrameType type, Class<F> frame, BiConsumer<FrameWriter, F> writes, Reads<F> reads) {
    Format<F> format = new Format<>(type, frame, writes, reads);
    BY_TYPE.put(type, format);
    BY_CLASS.put(frame, format);
  }

  static {
    handshake();
    link();
    sessions();
    publishing();
    consuming();
    administration();
  }

  private static void handshake() {
    add(
        FrameType.HELLO,
        Frame.Hello.class,
        (out, f) -> {
          out.varint(f.minVersion());
          out.varint(f.maxVersion());
          out.bits64(f.features());
          out.text(f.product());
        },
        (in, c) -> new Frame.Hello(in.varint(), in.varint(), in.bits64(), in.text()));
    add(
        FrameType.WELCOME,
        Frame.Welcome.class,
        (out, f) -> {
          out.varint(f.version());
          out.bits64(f.features());
          out.uuid(f.storeId());
          out.varint(f.maxFrameBytes());
          out.varint(f.maxMessageBytes());
          out.varint(f.maxTransactionBytes());
          out.varint(f.heartbeatMillis());
        },
        (in, c) ->
            new Frame.Welcome(
                in.varint(),
                in.bits64(),
                in.uuid(),
                in.varint(),
                in.varint(),
                in.varint(),
                in.varint()));
    add(
        FrameType.AUTH_START,
        Frame.AuthStart.class,
        (out, f) -> {
          out.text(f.mechanism());
          out.bytes(f.data());
        },
        (in, c) -> new Frame.AuthStart(in.text(), in.bytes()));
    add(
        FrameType.AUTH_CHALLENGE,
        Frame.AuthChallenge.class,
        (out, f) -> out.bytes(f.data()),
        (in, c) -> new Frame.AuthChallenge(in.bytes()));
    add(
        FrameType.AUTH_RESPONSE,
        Frame.AuthResponse.class,
        (out, f) -> out.bytes(f.data()),
        (in, c) -> new Frame.AuthResponse(in.bytes()));
    add(
        FrameType.AUTH_DONE,
        Frame.AuthDone.class,
        (out, f) -> {
          out.bytes(f.data());
          out.varint(f.connectionId());
          out.text(f.userName());
        },
        (in, c) -> new Frame.AuthDone(in.bytes(), in.varlong(), in.text()));
  }

  private static void link() {
    add(
        FrameType.ATTACH,
        Frame.Attach.class,
        (out, f) -> {
          out.uuid(f.linkId());
          out.varint(f.linkEpoch());
          out.varint(f.answersFrom());
          out.optionalText(f.clientId());
        },
        (in, c) -> new Frame.Attach(c, in.uuid(), in.varlong(), in.varlong(), in.optionalText()));
    add(
        FrameType.ATTACHED,
        Frame.Attached.class,
        (out, f) -> {
          out.varint(f.last());
          out.list(
              f.outcomes(),
              (o, outcome) -> {
                o.varint(outcome.number());
                o.varint(outcome.code().code());
                o.text(outcome.text());
              });
          out.varint(f.creditBytes());
        },
        (in, c) ->
            new Frame.Attached(
                c,
                in.varlong(),
                in.list(
                    "outcomes",
                    3,
                    i -> new Frame.NumberedOutcome(i.varlong(), faultCode(i), i.text())),
                in.varlong()));
    add(
        FrameType.SET_CLIENT_ID,
        Frame.SetClientId.class,
        (out, f) -> out.text(f.clientId()),
        (in, c) -> new Frame.SetClientId(c, in.text()));
    add(FrameType.OK, Frame.Ok.class, (out, f) -> {}, (in, c) -> new Frame.Ok(c));
    add(FrameType.FAULT, Frame.Fault.class, FrameFormats::writeFault, FrameFormats::readFault);
    add(
        FrameType.GOODBYE,
        Frame.Goodbye.class,
        (out, f) -> {
          out.varint(f.code().code());
          out.text(f.text());
        },
        (in, c) -> new Frame.Goodbye(faultCode(in), in.text()));
    add(
        FrameType.HEARTBEAT,
        Frame.Heartbeat.class,
        (out, f) -> {},
        (in, c) -> new Frame.Heartbeat());
  }

  private static void sessions() {
    add(
        FrameType.OPEN_SESSION,
        Frame.OpenSession.class,
        (out, f) -> out.varint(f.sessionId()),
        (in, c) -> new Frame.OpenSession(c, in.varint()));
    add(
        FrameType.CLOSE_SESSION,
        Frame.CloseSession.class,
        (out, f) -> out.varint(f.sessionId()),
        (in, c) -> new Frame.CloseSession(c, in.varint()));
    add(
        FrameType.ATTACH_PRODUCER,
        Frame.AttachProducer.class,
        (out, f) -> {
          out.varint(f.producerId());
          out.varint(f.sessionId());
          writeDestination(out, f.destination());
        },
        (in, c) -> new Frame.AttachProducer(c, in.varint(), in.varint(), readDestination(in)));
    add(
        FrameType.PRODUCER_ATTACHED,
        Frame.ProducerAttached.class,
        (out, f) -> out.varint(f.destinationId()),
        (in, c) -> new Frame.ProducerAttached(c, in.varlong()));
    add(
        FrameType.DETACH_PRODUCER,
        Frame.DetachProducer.class,
        (out, f) -> out.varint(f.producerId()),
        (in, c) -> new Frame.DetachProducer(in.varint()));
    add(
        FrameType.ATTACH_CONSUMER,
        Frame.AttachConsumer.class,
        (out, f) -> {
          out.varint(f.consumerId());
          out.varint(f.sessionId());
          writeDestination(out, f.destination());
          out.u8(f.subscribe().ordinal());
          out.optionalText(f.subscription());
          out.optionalText(f.selector());
          out.flag(f.noLocal());
        },
        (in, c) ->
            new Frame.AttachConsumer(
                c,
                in.varint(),
                in.varint(),
                readDestination(in),
                readSubscribe(in),
                in.optionalText(),
                in.optionalText(),
                in.flag()));
    add(
        FrameType.CONSUMER_ATTACHED,
        Frame.ConsumerAttached.class,
        (out, f) -> out.varint(f.destinationId()),
        (in, c) -> new Frame.ConsumerAttached(c, in.varlong()));
    add(
        FrameType.DETACH_CONSUMER,
        Frame.DetachConsumer.class,
        (out, f) -> out.varint(f.consumerId()),
        (in, c) -> new Frame.DetachConsumer(c, in.varint()));
    add(
        FrameType.UNSUBSCRIBE,
        Frame.Unsubscribe.class,
        (out, f) -> out.text(f.subscription()),
        (in, c) -> new Frame.Unsubscribe(c, in.text()));
    add(
        FrameType.CREATE_TEMPORARY,
        Frame.CreateTemporary.class,
        (out, f) -> out.u8(f.kind().code()),
        (in, c) -> new Frame.CreateTemporary(c, DestinationKind.of(in.u8())));
    add(
        FrameType.TEMPORARY_CREATED,
        Frame.TemporaryCreated.class,
        (out, f) -> writeDestination(out, f.destination()),
        (in, c) -> new Frame.TemporaryCreated(c, readDestination(in)));
    add(
        FrameType.DELETE_TEMPORARY,
        Frame.DeleteTemporary.class,
        (out, f) -> writeDestination(out, f.destination()),
        (in, c) -> new Frame.DeleteTemporary(c, readDestination(in)));
  }

  private static void publishing() {
    add(
        FrameType.PUBLISH,
        Frame.Publish.class,
        (out, f) -> {
          out.varint(f.destinationId());
          out.varint(f.number());
          out.varint(f.count());
          out.slice(f.messages());
        },
        (in, c) -> {
          long destinationId = in.varlong();
          long number = in.varlong();
          int count = runCount(in);
          return new Frame.Publish(c, destinationId, number, count, run(in, count));
        });
    add(
        FrameType.RECEIPTS,
        Frame.Receipts.class,
        (out, f) -> {
          out.list(
              f.done(),
              (o, done) -> {
                o.varint(done.from());
                o.varint(done.count());
              });
          out.list(
              f.refused(),
              (o, fault) -> {
                o.varint(fault.correlation());
                writeFault(o, fault);
              });
        },
        (in, c) ->
            new Frame.Receipts(
                in.list("receipts", 2, FrameFormats::readDone),
                in.list("refusals", 4, i -> readFault(i, i.varint()))));
    add(
        FrameType.CREDIT,
        Frame.Credit.class,
        (out, f) -> out.varint(f.totalBytes()),
        (in, c) -> new Frame.Credit(in.varlong()));
    add(
        FrameType.COMMIT,
        Frame.Commit.class,
        (out, f) -> {
          out.varint(f.sessionId());
          out.varint(f.number());
          out.list(
              f.runs(),
              (o, run) -> {
                o.varint(run.destinationId());
                o.flag(run.persistent());
                o.varint(run.count());
                o.slice(run.messages());
              });
          writeAcked(out, f.acked());
        },
        (in, c) ->
            new Frame.Commit(
                c,
                in.varint(),
                in.varlong(),
                in.list("runs", 4, FrameFormats::readStagedRun),
                readAcked(in)));
  }

  private static void consuming() {
    add(
        FrameType.PULL,
        Frame.Pull.class,
        (out, f) ->
            out.list(
                f.pulls(),
                (o, pull) -> {
                  o.varint(pull.consumerId());
                  o.varint(pull.pullId());
                  o.varint(pull.messages());
                  o.varint(pull.bytes());
                  o.varint(pull.parkMillis());
                }),
        (in, c) ->
            new Frame.Pull(
                in.list(
                    "pulls",
                    5,
                    Protocol.MAX_PULLS,
                    i ->
                        new Frame.PullOne(
                            i.varint(), i.varint(), i.varint(), i.varint(), i.varint()))));
    add(
        FrameType.PULL_DONE,
        Frame.PullDone.class,
        (out, f) ->
            out.list(
                f.ends(),
                (o, end) -> {
                  o.varint(end.consumerId());
                  o.varint(end.pullId());
                  o.varint(end.code().code());
                  o.varint(end.retryAfterMillis());
                }),
        (in, c) ->
            new Frame.PullDone(
                in.list(
                    "ended pulls",
                    4,
                    Protocol.MAX_PULLS,
                    i -> new Frame.PullEnd(i.varint(), i.varint(), faultCode(i), i.varint()))));
    add(
        FrameType.DELIVER,
        Frame.Deliver.class,
        (out, f) -> {
          out.varint(f.consumerId());
          out.varint(f.pullId());
          out.varint(f.count());
          out.list(
              f.seen(),
              (o, seen) -> {
                o.varint(seen.index());
                o.varint(seen.count());
                o.u8(seen.deliveries());
              });
          out.list(
              f.references(),
              (o, reference) -> {
                o.varint(reference.index());
                o.varint(reference.count());
                o.varint(reference.holderId());
                o.varint(reference.base());
                o.varint(reference.from());
              });
          out.slice(f.entries());
        },
        FrameFormats::readDeliver);
    add(
        FrameType.ACKNOWLEDGE,
        Frame.Acknowledge.class,
        (out, f) -> writeAcked(out, f.acked()),
        (in, c) -> new Frame.Acknowledge(c, readAcked(in)));
    add(
        FrameType.RETURN,
        Frame.Return.class,
        (out, f) -> {
          writeAcked(out, f.returned());
          out.flag(f.attempted());
        },
        (in, c) -> new Frame.Return(c, readAcked(in), in.flag()));
  }

  private static void administration() {
    add(
        FrameType.ADMIN,
        Frame.Admin.class,
        (out, f) -> {
          out.text(f.verb());
          out.list(
              new ArrayList<>(f.arguments().entrySet()),
              (o, argument) -> {
                o.text(argument.getKey());
                o.text(argument.getValue());
              });
        },
        (in, c) -> {
          String verb = in.text();
          Map<String, String> arguments = new LinkedHashMap<>();
          for (Map.Entry<String, String> each :
              in.list("arguments", 2, i -> Map.entry(i.text(), i.text()))) {
            if (arguments.put(each.getKey(), each.getValue()) != null) {
              throw ProtocolException.bad("argument " + each.getKey() + " is there twice");
            }
          }
          return new Frame.Admin(c, verb, arguments);
        });
    add(
        FrameType.ADMIN_RESULT,
        Frame.AdminResult.class,
        (out, f) -> out.text(f.json()),
        (in, c) -> new Frame.AdminResult(c, in.text()));
  }

  // ---- parts of several frames ----

  private static void writeDestination(FrameWriter out, DestinationName destination) {
    out.u8(destination.kind().code());
    out.text(destination.name());
  }

  private static DestinationName readDestination(FrameReader in) {
    return new DestinationName(DestinationKind.of(in.u8()), in.text());
  }

  private static Frame.Subscribe readSubscribe(FrameReader in) {
    int code = in.u8();
    if (code >= SUBSCRIBES.length) {
      throw ProtocolException.bad("subscribe code " + code + " is unknown; known are 0 to 4");
    }
    return SUBSCRIBES[code];
  }

  private static FaultCode faultCode(FrameReader in) {
    return FaultCode.of(in.varint());
  }

  private static void writeFault(FrameWriter out, Frame.Fault fault) {
    out.varint(fault.code().code());
    out.text(fault.text());
    out.varint(fault.retryAfterMillis());
  }

  private static Frame.Fault readFault(FrameReader in, int correlation) {
    return new Frame.Fault(correlation, faultCode(in), in.text(), in.varint());
  }

  private static Frame.Done readDone(FrameReader in) {
    int from = in.varint();
    int count = in.varint();
    if (from == 0 || count == 0 || from > Integer.MAX_VALUE - count + 1) {
      throw ProtocolException.bad("receipts from " + from + " for " + count + " requests");
    }
    return new Frame.Done(from, count);
  }

  private static void writeAcked(FrameWriter out, List<Frame.Acked> acked) {
    out.list(
        acked,
        (o, one) -> {
          o.varint(one.consumerId());
          o.varint(one.destinationId());
          o.list(
              one.ranges(),
              (r, range) -> {
                r.u8(range.lane());
                r.varint(range.from());
                r.varint(range.count());
              });
        });
  }

  private static List<Frame.Acked> readAcked(FrameReader in) {
    return in.list(
        "consumers",
        3,
        i ->
            new Frame.Acked(
                i.varint(),
                i.varlong(),
                i.list("ranges", 3, r -> new SequenceRange(r.u8(), r.varlong(), r.varint()))));
  }

  private static Frame.StagedRun readStagedRun(FrameReader in) {
    long destinationId = in.varlong();
    boolean persistent = in.flag();
    int count = runCount(in);
    return new Frame.StagedRun(destinationId, persistent, count, run(in, count));
  }

  private static int runCount(FrameReader in) {
    int least = 4 + MessageReader.minBytes();
    int count = in.count("messages", least, Protocol.MAX_RUN_MESSAGES);
    if (count == 0) {
      throw ProtocolException.bad("a run has at least one message");
    }
    return count;
  }

  /** A run whose messages are whole: lengths in front that fill it exactly. */
  private static ByteBuf run(FrameReader in, int count) {
    ByteBuf messages = in.slice();
    int at = messages.readerIndex();
    int end = messages.writerIndex();
    for (int i = 0; i < count; i++) {
      int length = end - at < 4 ? -1 : messages.getInt(at);
      if (length < MessageReader.minBytes() || length > end - at - 4) {
        throw ProtocolException.bad(
            "message "
                + i
                + " of "
                + count
                + " has length "
                + length
                + "; "
                + Math.max(0, end - at - 4)
                + " bytes of its run remain");
      }
      at += 4 + length;
    }
    if (at != end) {
      throw ProtocolException.bad((end - at) + " bytes are left behind the run's last message");
    }
    return messages;
  }

  private static Frame.Deliver readDeliver(FrameReader in, int correlation) {
    int consumerId = in.varint();
    int pullId = in.varint();
    int count = in.count("entries", Entry.HEADER_BYTES, Protocol.MAX_ITEMS);
    List<Frame.Seen> seen =
        in.list("seen marks", 3, i -> new Frame.Seen(i.varint(), i.varint(), i.u8()));
    List<Frame.Reference> references =
        in.list(
            "references",
            5,
            i ->
                new Frame.Reference(i.varint(), i.varint(), i.varlong(), i.varlong(), i.varlong()));
    int next = 0;
    for (Frame.Seen each : seen) {
      next = within(each.index(), each.count(), next, count);
    }
    next = 0;
    for (Frame.Reference each : references) {
      next = within(each.index(), each.count(), next, count);
    }
    ByteBuf entries = in.slice();
    int at = entries.readerIndex();
    int end = entries.writerIndex();
    for (int i = 0; i < count; i++) {
      int length = end - at < Entry.HEADER_BYTES ? -1 : entries.getInt(at);
      if (length < Entry.HEADER_BYTES || length > end - at) {
        throw ProtocolException.bad(
            "entry "
                + i
                + " of "
                + count
                + " has length "
                + length
                + "; "
                + (end - at)
                + " remain");
      }
      at += length;
    }
    if (at != end || count == 0) {
      throw ProtocolException.bad(
          count + " entries, and " + (end - at) + " bytes behind the last one");
    }
    return new Frame.Deliver(consumerId, pullId, count, seen, references, entries);
  }

  private static int within(int index, int count, int next, int entries) {
    if (index < next || count == 0 || count > entries - index) {
      throw ProtocolException.bad(
          "a mark on "
              + count
              + " entries from index "
              + index
              + " of "
              + entries
              + "; expected from "
              + next
              + " on");
    }
    return index + count;
  }
}
