package io.lightmq.wire;

import static io.lightmq.wire.ControlFormats.faultCode;
import static io.lightmq.wire.ControlFormats.readFault;
import static io.lightmq.wire.ControlFormats.writeFault;

import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.SequenceRange;
import io.netty.buffer.ByteBuf;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The fields of the frames that carry messages or speak about them: publishing and consuming. */
final class MessageFormats {
  private MessageFormats() {}

  static void addTo(FrameFormats table) {
    publishing(table);
    pulling(table);
    settling(table);
  }

  private static void publishing(FrameFormats table) {
    table.add(
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
    table.add(
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
                in.list("receipts", 2, MessageFormats::readDone),
                in.list("refusals", 4, i -> readFault(i, i.varint()))));
    table.add(
        FrameType.CREDIT,
        Frame.Credit.class,
        (out, f) -> out.varint(f.totalBytes()),
        (in, c) -> new Frame.Credit(in.varlong()));
  }

  private static void pulling(FrameFormats table) {
    table.add(
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
    table.add(
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
    table.add(
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
        MessageFormats::readDeliver);
  }

  private static void settling(FrameFormats table) {
    table.add(
        FrameType.ACKNOWLEDGE,
        Frame.Acknowledge.class,
        (out, f) -> writeAcked(out, f.acked()),
        (in, c) -> new Frame.Acknowledge(c, readAcked(in)));
    table.add(
        FrameType.RETURN,
        Frame.Return.class,
        (out, f) -> {
          writeAcked(out, f.returned());
          out.flag(f.attempted());
          out.optionalText(f.cause());
        },
        (in, c) -> new Frame.Return(c, readAcked(in), in.flag(), readCause(in)));
    table.add(
        FrameType.BEGUN,
        Frame.Begun.class,
        (out, f) -> {
          out.varint(f.sessionId());
          out.flag(f.alone());
          writeAcked(out, f.messages());
        },
        (in, c) -> new Frame.Begun(in.varint(), in.flag(), readAcked(in)));
  }

  // ---- parts of several frames ----

  private static @Nullable String readCause(FrameReader in) {
    String cause = in.optionalText();
    if (cause != null && cause.length() > Protocol.MAX_CAUSE_CHARS) {
      throw ProtocolException.bad(
          "a cause of "
              + cause.length()
              + " characters; at most "
              + Protocol.MAX_CAUSE_CHARS
              + " are allowed");
    }
    return cause;
  }

  private static Frame.Done readDone(FrameReader in) {
    int from = in.varint();
    int count = in.varint();
    if (from == 0 || count == 0 || from > Integer.MAX_VALUE - count + 1) {
      throw ProtocolException.bad("receipts from " + from + " for " + count + " requests");
    }
    return new Frame.Done(from, count);
  }

  static void writeAcked(FrameWriter out, List<Frame.Acked> acked) {
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

  static List<Frame.Acked> readAcked(FrameReader in) {
    return in.list(
        "consumers",
        3,
        i ->
            new Frame.Acked(
                i.varint(),
                i.varlong(),
                i.list("ranges", 3, r -> new SequenceRange(r.u8(), r.varlong(), r.varint()))));
  }

  static void writeRuns(FrameWriter out, List<Frame.StagedRun> runs) {
    out.list(
        runs,
        (o, run) -> {
          o.varint(run.destinationId());
          o.flag(run.persistent());
          o.varint(run.count());
          o.slice(run.messages());
        });
  }

  static List<Frame.StagedRun> readRuns(FrameReader in) {
    return in.list(
        "runs",
        4,
        i -> {
          long destinationId = i.varlong();
          boolean persistent = i.flag();
          int count = runCount(i);
          return new Frame.StagedRun(destinationId, persistent, count, run(i, count));
        });
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
