package io.lightmq.core.sim;

import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.Loops;
import io.lightmq.spi.Journal;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A log in memory that members share, of whom one leads at most: a cluster without a network. What
 * is in it is committed and stays, whatever becomes of the members. The test says who leads, and
 * may hold commits up and take leadership away while batches are under way.
 */
public final class PairedLog {
  private final TreeMap<Long, byte[]> batches = new TreeMap<>();
  private final List<Member> members = new ArrayList<>();
  private final Random random;
  private long committed;
  private long epochs;

  public PairedLog(long seed) {
    random = new Random(seed);
  }

  /** Behind the last committed batch. */
  public long committed() {
    return committed;
  }

  /** Shows every batch from an offset on, and says where the last one ends. */
  public long replay(long fromOffset, Journal.Replay taker) {
    for (Map.Entry<Long, byte[]> each : batches.tailMap(fromOffset).entrySet()) {
      byte[] batch = each.getValue();
      taker.replay(
          each.getKey(),
          ByteBuffer.wrap(
                  batch, Journal.Batch.HEADER_BYTES, batch.length - Journal.Batch.HEADER_BYTES)
              .slice()
              .asReadOnlyBuffer());
    }
    return committed;
  }

  /** Where a text is. */
  public long find(String text) {
    for (Map.Entry<Long, byte[]> each : batches.entrySet()) {
      int at = new String(each.getValue(), StandardCharsets.ISO_8859_1).indexOf(text);
      if (at >= 0) {
        return each.getKey() + at;
      }
    }
    throw new AssertionError(text + " is not in the log");
  }

  /** A member that is not started. */
  public Member join(Loops loops) {
    Member member = new Member(loops.open("log"));
    members.add(member);
    return member;
  }

  /** A process has died: nothing is told to its member any more. */
  public void leave(Member member) {
    members.remove(member);
    member.gone = true;
  }

  private void commit(byte[] batch) {
    batches.put(committed, batch);
    committed += batch.length;
  }

  /** One member's view of the log. */
  public final class Member implements Journal {
    private final Loop loop;
    private @Nullable Executor shard;
    private @Nullable Listener listener;
    private final ArrayDeque<Batch> sent = new ArrayDeque<>();
    private long epoch;

    /** What its shard has heard that it leads in; 0 if it has heard that it does not. */
    private long heardEpoch;

    private boolean leads;
    private boolean gone;

    /** Commits wait until this is false. */
    public boolean held;

    /** Nothing is told of what others commit until this is false. */
    public boolean lags;

    /** Runs on the shard's loop before that hears that it leads no more. */
    public Runnable leaving = () -> {};

    /** What is appended is confirmed before it is committed: a planted bug. */
    public boolean confirmsEarly;

    /** What is lost is confirmed, and the shard keeps it: a planted bug. */
    public boolean hidesLosses;

    /** The byte here is another one when it is read; -1 for none. */
    public long damagedAt = -1;

    /** See {@link Journal#mayGiveUntil}; not for ever, since others may lead. */
    public long leaseNanos = Long.MAX_VALUE - 1;

    private long appended;
    private long taken;
    private long done;
    private long told;
    private int ahead;
    private boolean pumping;

    /** The most that was handed over and not carried out. */
    public int mostAhead;

    private Member(Loop loop) {
      this.loop = loop;
    }

    public boolean leads() {
      return leads;
    }

    /** Batches that are appended and not committed. */
    public int pending() {
      return sent.size();
    }

    /** This member leads from now on. */
    public void lead() {
      for (Member other : members) {
        if (other.leads) {
          throw new AssertionError("another one leads");
        }
      }
      leads = true;
      epoch = ++epochs;
      lags = false;
      feed();
      appended = committed;
      taken = committed;
      done = committed;
      long mine = epoch;
      long from = committed;
      tell(
          to -> {
            heardEpoch = mine;
            to.leader(mine, from);
          });
    }

    /** Whether it leads, and its shard has heard so. */
    public boolean hasHeardThatItLeads() {
      return leads && heardEpoch == epoch;
    }

    /** Commits all that it has appended, then leads no more. */
    public void resign() {
      while (!sent.isEmpty()) {
        commitNext();
      }
      leads = false;
      told = committed;
      tellThatItLeadsNoMore(Listener::follower);
    }

    private void tellThatItLeadsNoMore(Consumer<Listener> what) {
      tell(
          to -> {
            leaving.run();
            what.accept(to);
            heardEpoch = 0;
          });
    }

    /**
     * Takes leadership away.
     *
     * @param stays how many of the batches under way are in the log nevertheless
     * @param refused whether the rest is answered so, and not as unknown
     */
    public int lose(int stays, boolean refused) {
      leads = false;
      told = done;
      int pending = sent.size();
      for (int i = 0; !sent.isEmpty(); i++) {
        Batch batch = sent.remove();
        if (i < stays) {
          commit(copy(batch));
        }
        if (hidesLosses) {
          batch.completed(Outcome.DONE);
        } else if (!confirmsEarly) {
          batch.completed(i >= stays && refused ? Outcome.REFUSED : Outcome.UNKNOWN);
        }
      }
      if (pending == 0 || hidesLosses) {
        tellThatItLeadsNoMore(Listener::follower);
      } else {
        tellThatItLeadsNoMore(to -> to.lost(pending));
      }
      feedAll();
      return pending;
    }

    private byte[] copy(Batch batch) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      for (ByteBuffer piece : batch.bytes()) {
        byte[] part = new byte[piece.remaining()];
        piece.duplicate().get(part);
        bytes.writeBytes(part);
      }
      return bytes.toByteArray();
    }

    private void tell(Consumer<Listener> what) {
      Executor to = shard;
      Listener hears = listener;
      if (to != null && hears != null && !gone) {
        to.execute(
            () -> {
              if (!gone) {
                what.accept(hears);
              }
            });
      }
    }

    private void feed() {
      while (!gone && !lags && told < committed && ahead < AHEAD_BYTES) {
        long offset = told;
        byte[] batch = batches.get(offset);
        told += batch.length;
        ahead += batch.length;
        mostAhead = Math.max(mostAhead, ahead);
        tell(
            to -> {
              to.committed(
                  offset,
                  ByteBuffer.wrap(batch, Batch.HEADER_BYTES, batch.length - Batch.HEADER_BYTES)
                      .slice()
                      .asReadOnlyBuffer());
              ahead -= batch.length;
              if (!leads) {
                feed();
              }
            });
      }
    }

    /** Tells what it has not been told, after it lagged. */
    public void catchUp() {
      lags = false;
      feed();
    }

    private void feedAll() {
      for (Member member : members) {
        if (!member.leads && member.listener != null) {
          member.feed();
        }
      }
    }

    private void pump() {
      pumping = false;
      if (gone || sent.isEmpty()) {
        return;
      }
      if (!held) {
        commitNext();
      }
      pumpSoon();
    }

    private void pumpSoon() {
      if (!pumping && !sent.isEmpty()) {
        pumping = true;
        loop.schedule(held ? 1_000_000 : random.nextInt(300_000), this::pump);
      }
    }

    /** Commits the next batch, though they are held. */
    public void commitOne() {
      commitNext();
    }

    private void commitNext() {
      Batch batch = sent.remove();
      if (batch.offset() != committed) {
        throw new AssertionError("batch at " + batch.offset() + " for " + committed);
      }
      byte[] copy = copy(batch);
      commit(copy);
      taken = Math.max(taken, committed);
      done = committed;
      told = committed;
      batch.taken();
      batch.written();
      batch.readable();
      if (!confirmsEarly) {
        batch.completed(Outcome.DONE);
      }
      feedAll();
    }

    @Override
    public long start(long fromOffset, Executor executor, Listener hears) {
      this.shard = executor;
      this.listener = hears;
      long end = replay(fromOffset, hears);
      told = end;
      appended = end;
      taken = end;
      done = end;
      return end;
    }

    @Override
    public long replay(long fromOffset, Replay taker) {
      return PairedLog.this.replay(fromOffset, taker);
    }

    @Override
    public void append(long batchEpoch, long number, Batch batch) {
      if (heardEpoch == 0) {
        throw new AssertionError("who has heard that another one leads appends " + batch.length());
      }
      if (!leads || batchEpoch != epoch) {
        loop.execute(() -> batch.completed(Outcome.REFUSED));
        return;
      }
      if (batch.offset() != appended) {
        throw new AssertionError("batch at " + batch.offset() + " for " + appended);
      }
      appended += batch.length();
      sent.add(batch);
      if (confirmsEarly) {
        loop.execute(() -> batch.completed(Outcome.DONE));
      }
      loop.execute(this::pumpSoon);
    }

    @Override
    public int maxBatchBytes() {
      return 1 << 20;
    }

    @Override
    public long mayGiveUntil() {
      return leaseNanos;
    }

    @Override
    public void force() {}

    @Override
    public void forceBeside() {}

    @Override
    public long durable() {
      return leads ? done : Math.max(done, told);
    }

    @Override
    public long written() {
      return durable();
    }

    @Override
    public long readable() {
      return committed;
    }

    @Override
    public long taken() {
      return taken;
    }

    @Override
    public long appended() {
      return leads ? appended : told;
    }

    @Override
    public long usedBytes() {
      return committed % (1 << 18);
    }

    @Override
    public long usedBytesAfter(int batchBytes) {
      return usedBytes() + batchBytes;
    }

    @Override
    public long capacityBytes() {
      return 1 << 20;
    }

    @Override
    public Times times() {
      return new Times(new Calls(0, 0), new Calls(0, 0));
    }

    @Override
    public void read(long offset, ByteBuffer into) throws IOException {
      long at = offset;
      while (into.hasRemaining()) {
        Map.Entry<Long, byte[]> in = batches.floorEntry(at);
        if (in == null || at >= in.getKey() + in.getValue().length) {
          throw new IOException("offset " + at + " is not in the log of " + committed);
        }
        int skip = (int) (at - in.getKey());
        int length = Math.min(into.remaining(), in.getValue().length - skip);
        into.put(in.getValue(), skip, length);
        if (damagedAt >= at && damagedAt < at + length) {
          int place = into.position() - length + (int) (damagedAt - at);
          into.put(place, (byte) ~into.get(place));
        }
        at += length;
      }
    }

    /** {@inheritDoc} Others may need it. */
    @Override
    public void trim(long belowOffset) {}

    @Override
    public void close() {
      while (!sent.isEmpty()) {
        if (held) {
          sent.remove().completed(Outcome.UNKNOWN);
        } else {
          commitNext();
        }
      }
      leave(this);
    }
  }
}
