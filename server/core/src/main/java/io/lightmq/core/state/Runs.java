package io.lightmq.core.state;

import io.lightmq.core.destination.LaneCode;
import io.lightmq.core.record.ShardRecord;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntPredicate;

/** Checks the bytes of runs before anything is done with them. */
@OwnedBy("shard")
public final class Runs {
  private final int maxMessageBytes;
  private final int maxRunBytes;

  public Runs(int maxMessageBytes, int maxRunBytes) {
    this.maxMessageBytes = maxMessageBytes;
    this.maxRunBytes = maxRunBytes;
  }

  /**
   * A checked run.
   *
   * @param entryBytes what its entries take
   * @param priorities a bit for each priority that any of its messages has
   * @param skips who does not want which of its messages
   * @param delayed whether any of its messages is to come later
   */
  public record Checked(
      int count,
      ByteBuffer messages,
      long entryBytes,
      int priorities,
      List<Skip> skips,
      boolean delayed) {

    /** The same run with what is known of who does not want what. */
    public Checked with(List<Skip> found) {
      return new Checked(count, messages, entryBytes, priorities, List.copyOf(found), delayed);
    }

    /** The same run in other bytes. */
    public Checked of(ByteBuffer same) {
      return new Checked(count, same, entryBytes, priorities, skips, delayed);
    }

    /** Those of its messages that are to come at once; their count may be 0. */
    public Checked undelayed() {
      List<Integer> places = new ArrayList<>();
      int at = messages.position();
      for (int i = 0; i < count; i++) {
        if (MessageReader.deliveryDelayMillis(messages, at + 4) <= 0) {
          places.add(at);
        }
        at += 4 + messages.getInt(at);
      }
      return only(places);
    }

    /** The rest of the run without some messages; its bytes are copied. */
    public Checked without(BitSet dropped) {
      int kept = count - dropped.cardinality();
      ByteBuffer into = ByteBuffer.allocate(kept == 0 ? 0 : messages.remaining());
      int left = 0;
      int at = messages.position();
      for (int i = 0; i < count; i++) {
        int bytes = 4 + messages.getInt(at);
        if (!dropped.get(i)) {
          left |= 1 << MessageReader.priority(messages, at + 4);
          into.put(into.position(), messages, at, bytes).position(into.position() + bytes);
        }
        at += bytes;
      }
      long headers = (entryBytes - (messages.remaining() - 4L * count)) / count;
      into.flip();
      return new Checked(
          kept,
          into,
          into.remaining() - 4L * kept + headers * kept,
          left,
          chosen(skips, count, i -> !dropped.get(i)),
          delayed);
    }

    /** The skips of some of the messages, by their places among these. */
    private static List<Skip> chosen(List<Skip> skips, int count, IntPredicate choice) {
      List<Skip> chosen = new ArrayList<>(skips.size());
      for (Skip skip : skips) {
        BitSet messages = new BitSet();
        int place = 0;
        for (int i = 0; i < count; i++) {
          if (choice.test(i)) {
            messages.set(place++, skip.messages().get(i));
          }
        }
        if (!messages.isEmpty()) {
          chosen.add(new Skip(skip.subscription(), messages));
        }
      }
      return chosen;
    }

    /** Those of its messages that begin at some places, in that order, as a run of their own. */
    public Checked only(List<Integer> places) {
      if (places.size() == count) {
        return this;
      }
      int bytes = 0;
      int found = 0;
      for (int at : places) {
        bytes += 4 + messages.getInt(at);
        found |= 1 << MessageReader.priority(messages, at + 4);
      }
      ByteBuffer into = ByteBuffer.allocate(bytes);
      for (int at : places) {
        int length = 4 + messages.getInt(at);
        into.put(into.position(), messages, at, length).position(into.position() + length);
      }
      long own = bytes - 4L * places.size();
      long headers = (entryBytes - (messages.remaining() - 4L * count)) / count;
      return new Checked(
          places.size(), into.flip(), own + headers * places.size(), found, List.of(), false);
    }

    /** Whether all of its messages have the same priority. */
    public boolean isOfOnePriority() {
      return Integer.bitCount(priorities) == 1;
    }

    /** The run of a single priority as it is. */
    public LaneRun ofOnePriority() {
      return new LaneRun(Integer.numberOfTrailingZeros(priorities), count, messages, skips);
    }

    /** The run by priorities, rising; bytes are copied only if there is more than one. */
    public List<LaneRun> byPriority() {
      int rest = priorities;
      if (isOfOnePriority()) {
        return List.of(ofOnePriority());
      }
      List<LaneRun> runs = new ArrayList<>(Integer.bitCount(rest));
      for (; rest != 0; rest &= rest - 1) {
        runs.add(of(Integer.numberOfTrailingZeros(rest)));
      }
      return runs;
    }

    private LaneRun of(int priority) {
      ByteBuffer into = ByteBuffer.allocate(messages.remaining());
      BitSet found = new BitSet(count);
      int at = messages.position();
      for (int i = 0; i < count; i++) {
        int bytes = 4 + messages.getInt(at);
        if (MessageReader.priority(messages, at + 4) == priority) {
          into.put(into.position(), messages, at, bytes).position(into.position() + bytes);
          found.set(i);
        }
        at += bytes;
      }
      return new LaneRun(
          priority, found.cardinality(), into.flip(), chosen(skips, count, found::get));
    }
  }

  /** Checks that a run is whole. */
  public Checked check(int count, ByteBuffer messages, int userBytes) {
    if (count < 1 || count > ShardRecord.MAX_RUN) {
      throw new Refusal(
          FaultCode.PROTOCOL_ERROR,
          "a run has 1 to " + ShardRecord.MAX_RUN + " messages, not " + count);
    }
    int at = messages.position();
    int limit = messages.limit();
    int priorities = 0;
    boolean delayed = false;
    for (int i = 0; i < count; i++) {
      int length = limit - at < 4 ? -1 : messages.getInt(at);
      if (length < MessageReader.minBytes() || length > limit - at - 4) {
        throw new Refusal(
            FaultCode.PROTOCOL_ERROR,
            "message "
                + i
                + " of "
                + count
                + " has length "
                + length
                + " at "
                + at
                + " of "
                + limit);
      }
      if (length > maxMessageBytes) {
        throw new Refusal(
            FaultCode.TOO_LARGE,
            "a message has " + length + " bytes; the broker's limit is " + maxMessageBytes);
      }
      int priority = MessageReader.priority(messages, at + 4);
      if (priority < 0 || priority >= LaneCode.PRIORITIES) {
        throw new Refusal(
            FaultCode.PROTOCOL_ERROR,
            "message " + i + " of " + count + " has priority " + priority + ", not 0 to 9");
      }
      priorities |= 1 << priority;
      delayed |= MessageReader.deliveryDelayMillis(messages, at + 4) > 0;
      at += 4 + length;
    }
    if (at != limit) {
      throw new Refusal(
          FaultCode.PROTOCOL_ERROR, (limit - at) + " bytes follow the run's last message");
    }
    long entryBytes =
        messages.remaining() - 4L * count + (long) count * (Entry.HEADER_BYTES + userBytes);
    if (entryBytes > maxRunBytes) {
      throw new Refusal(
          FaultCode.TOO_LARGE,
          "the run's entries take " + entryBytes + " bytes; the limit is " + maxRunBytes);
    }
    return new Checked(count, messages, entryBytes, priorities, List.of(), delayed);
  }
}
