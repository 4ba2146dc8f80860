package io.lightmq.wire;

import static io.lightmq.wire.MessageFormats.readAcked;
import static io.lightmq.wire.MessageFormats.readRuns;
import static io.lightmq.wire.MessageFormats.writeAcked;
import static io.lightmq.wire.MessageFormats.writeRuns;

import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.BranchState;
import io.lightmq.wire.entry.Xid;
import org.jspecify.annotations.Nullable;

/**
 * The fields of the frames that settle transactions.
 *
 * <p>Those with messages begin alike: session, number or id, runs. CommitParts of the broker counts
 * the parts of that layout before it is decoded.
 */
final class TransactionFormats {
  private static final int LOCAL = 1;
  private static final int XA = 2;

  /** The fewest bytes of a branch in a list: format, lengths, one byte of id, state. */
  private static final int LEAST_RECOVERED_BYTES = 8;

  private TransactionFormats() {}

  static void addTo(FrameFormats table) {
    committing(table);
    staging(table);
    deciding(table);
    recovering(table);
  }

  private static void committing(FrameFormats table) {
    table.add(
        FrameType.COMMIT,
        Frame.Commit.class,
        (out, f) -> {
          out.varint(f.sessionId());
          out.varint(f.number());
          writeRuns(out, f.runs());
          writeAcked(out, f.acked());
          Frame.Part staged = f.staged();
          if (staged != null) {
            writeBranch(out, staged.branch());
            out.varint(staged.transaction());
          }
        },
        (in, c) ->
            new Frame.Commit(
                c, in.varint(), in.varlong(), readRuns(in), readAcked(in), readPart(in)));
    table.add(
        FrameType.PREPARE,
        Frame.Prepare.class,
        (out, f) -> {
          out.varint(f.sessionId());
          out.varint(f.number());
          writeRuns(out, f.runs());
          writeAcked(out, f.acked());
          writeXid(out, f.xid());
          out.varint(f.transaction());
        },
        (in, c) ->
            new Frame.Prepare(
                c,
                in.varint(),
                readNumber(in),
                readRuns(in),
                readAcked(in),
                readXid(in),
                in.varlong()));
  }

  private static void staging(FrameFormats table) {
    table.add(
        FrameType.STAGE,
        Frame.Stage.class,
        (out, f) -> {
          out.varint(f.sessionId());
          out.varint(f.transaction());
          writeRuns(out, f.runs());
          writeAcked(out, f.acked());
          writeBranch(out, f.branch());
        },
        (in, c) ->
            new Frame.Stage(
                c, in.varint(), in.varlong(), readRuns(in), readAcked(in), readBranch(in)));
    table.add(
        FrameType.STAGED,
        Frame.Staged.class,
        (out, f) -> out.varint(f.transaction()),
        (in, c) -> new Frame.Staged(c, readId(in)));
    table.add(
        FrameType.ABANDON,
        Frame.Abandon.class,
        (out, f) -> {
          writeBranch(out, f.branch());
          out.flag(f.attempted());
        },
        (in, c) -> new Frame.Abandon(c, readBranch(in), in.flag()));
  }

  private static void deciding(FrameFormats table) {
    table.add(
        FrameType.DECIDE,
        Frame.Decide.class,
        (out, f) -> {
          out.varint(f.number());
          writeXid(out, f.xid());
          out.u8(f.decision().code());
        },
        (in, c) -> new Frame.Decide(c, readNumber(in), readXid(in), BranchDecision.of(in.u8())));
  }

  private static void recovering(FrameFormats table) {
    table.add(
        FrameType.RECOVER,
        Frame.Recover.class,
        (out, f) -> {
          out.varint(f.most());
          Xid after = f.after();
          out.flag(after != null);
          if (after != null) {
            writeXid(out, after);
          }
        },
        (in, c) -> new Frame.Recover(c, readMost(in), in.flag() ? readXid(in) : null));
    table.add(
        FrameType.RECOVERED,
        Frame.Recovered.class,
        (out, f) -> {
          out.list(
              f.branches(),
              (o, branch) -> {
                writeXid(o, branch.xid());
                o.u8(branch.state().code());
              });
          out.flag(f.more());
        },
        (in, c) ->
            new Frame.Recovered(
                c,
                in.list(
                    "branches",
                    LEAST_RECOVERED_BYTES,
                    Protocol.MAX_RECOVERED,
                    i -> new Frame.RecoveredBranch(readXid(i), BranchState.of(i.u8()))),
                in.flag()));
  }

  // ---- parts of several frames ----

  private static void writeBranch(FrameWriter out, Branch branch) {
    if (branch instanceof Branch.Local local) {
      out.u8(LOCAL);
      out.varint(local.number());
    } else if (branch instanceof Branch.Xa xa) {
      out.u8(XA);
      writeXid(out, xa.xid());
    }
  }

  private static Branch readBranch(FrameReader in) {
    int kind = in.u8();
    return switch (kind) {
      case LOCAL -> new Branch.Local(in.varlong());
      case XA -> new Branch.Xa(readXid(in));
      default -> throw ProtocolException.bad("kind " + kind + " of a branch; known are 1 and 2");
    };
  }

  private static void writeXid(FrameWriter out, Xid xid) {
    out.i32(xid.formatId());
    out.bytes(xid.globalId());
    out.bytes(xid.branchQualifier());
  }

  private static Xid readXid(FrameReader in) {
    return new Xid(
        in.i32(),
        in.bytes("a global transaction id", Xid.MAX_PART_BYTES),
        in.bytes("a branch qualifier", Xid.MAX_PART_BYTES));
  }

  private static Frame.@Nullable Part readPart(FrameReader in) {
    return in.remaining() == 0 ? null : new Frame.Part(readBranch(in), readId(in));
  }

  private static long readId(FrameReader in) {
    long id = in.varlong();
    if (id == 0) {
      throw ProtocolException.bad("a transaction's id is above 0");
    }
    return id;
  }

  private static long readNumber(FrameReader in) {
    long number = in.varlong();
    if (number == 0) {
      throw ProtocolException.bad("it has a number of its link, from 1 on");
    }
    return number;
  }

  private static int readMost(FrameReader in) {
    int most = in.varint();
    if (most == 0 || most > Protocol.MAX_RECOVERED) {
      throw ProtocolException.bad(
          most + " branches are asked for; 1 to " + Protocol.MAX_RECOVERED + " can be");
    }
    return most;
  }
}
