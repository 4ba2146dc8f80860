package io.lightmq.core.record;

import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.SubscriptionKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.util.BitSet;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A durable fact about a shard. Records are made by decide, written to the journal and applied in
 * journal order; applying the same records again gives the same state. {@link RecordCodec} knows
 * their bytes.
 */
public sealed interface ShardRecord {

  /** The most ranges in one {@link Acked} or {@link Purged}; longer lists are split. */
  int MAX_RANGES = 1 << 16;

  /** The most messages in one {@link Published}. */
  int MAX_RUN = 20_000;

  /**
   * The most subscriptions that one {@link Published} names, and so the most durable ones that are
   * opened to one topic: there are records that name all of them but one.
   */
  int MAX_UNWANTED = 1 << 16;

  /** The most lists of messages that one {@link Stopped} has. */
  int MAX_DELIVERED = 1 << 16;

  /** The most parts of one {@link Committed}. */
  int MAX_PARTS = 1 << 16;

  /**
   * A shard epoch begins: the shard has started.
   *
   * @param clean whether the epoch before ended with {@link Stopped}; if not, everything
   *     unacknowledged in touched blocks may have been seen by a consumer
   */
  record Started(long epoch, boolean clean) implements ShardRecord {}

  /**
   * The shard was closed in order.
   *
   * @param counted whether {@code delivered} is all that was delivered and is not acknowledged; if
   *     not, only the owner that recorded it knows what was seen
   */
  record Stopped(boolean counted, List<Delivered> delivered) implements ShardRecord {
    /** One that tells nothing of deliveries. */
    public static final Stopped UNCOUNTED = new Stopped(false, List.of());

    public Stopped {
      delivered = List.copyOf(delivered);
    }
  }

  /** These messages of a subscription were delivered so often: 1 to 255 times. */
  record Delivered(
      long destinationId, long subscriptionId, int deliveries, List<SequenceRange> ranges) {
    public Delivered {
      ranges = List.copyOf(ranges);
    }
  }

  /** A new shard epoch because a lane's counter runs out; drops nothing. */
  record Epoch(long next) implements ShardRecord {}

  /** A destination exists from now on; ids are never reused. */
  record DestinationCreated(long destinationId, DestinationName name, DestinationSettings settings)
      implements ShardRecord {}

  /** A destination's settings from the next message on. */
  record DestinationSet(long destinationId, DestinationSettings settings) implements ShardRecord {}

  /** A destination is gone, with its messages and subscriptions. */
  record DestinationDeleted(long destinationId) implements ShardRecord {}

  /**
   * A durable subscription of a topic exists from now on; it wants what is published from here.
   *
   * @param clientId null for those that are shared between clients without an id
   * @param selector what it wants, null for everything
   * @param replaces what it takes the place of, for it differs in topic, selector or no-local
   * @param owner the user whose it is; null where that is not known
   */
  record SubscriptionOpened(
      long subscriptionId,
      long destinationId,
      SubscriptionKind kind,
      @Nullable String clientId,
      String name,
      @Nullable String selector,
      boolean noLocal,
      @Nullable Replaced replaces,
      @Nullable String owner)
      implements ShardRecord {

    /** Opens one that replaces none. */
    public SubscriptionOpened(
        long subscriptionId,
        long destinationId,
        SubscriptionKind kind,
        @Nullable String clientId,
        String name,
        @Nullable String selector,
        boolean noLocal) {
      this(subscriptionId, destinationId, kind, clientId, name, selector, noLocal, null, null);
    }
  }

  /** A durable subscription of the same name that is gone with this record. */
  record Replaced(long destinationId, long subscriptionId) {}

  /** A durable subscription that had no owner belongs to a user from now on. */
  record SubscriptionOwned(long destinationId, long subscriptionId, String owner)
      implements ShardRecord {}

  /** A durable subscription is gone. */
  record SubscriptionClosed(long destinationId, long subscriptionId) implements ShardRecord {}

  /** What a {@link Committed} may frame. */
  sealed interface Part extends ShardRecord {}

  /**
   * A run of messages for one destination; its entries are part of the record's bytes.
   *
   * @param link the producer's link; null within a {@link Committed}, whose own link counts
   * @param number the link's number, 0 within a {@link Committed}
   * @param unwanted what durable subscriptions do not want of it
   */
  record Published(
      @Nullable UUID link,
      long number,
      long destinationId,
      int lane,
      long firstSequence,
      Entries entries,
      List<Unwanted> unwanted)
      implements Part {
    public Published {
      unwanted = List.copyOf(unwanted);
    }

    /** A run that all want. */
    public Published(
        @Nullable UUID link,
        long number,
        long destinationId,
        int lane,
        long firstSequence,
        Entries entries) {
      this(link, number, destinationId, lane, firstSequence, entries, List.of());
    }
  }

  /**
   * Messages of a run that a durable subscription does not want: for it they are acknowledged.
   *
   * @param messages by their places in the run; at least one, never changed
   */
  record Unwanted(long subscriptionId, BitSet messages) {}

  /** Why messages are acknowledged. */
  enum Reason {
    ACKNOWLEDGED(0),
    EXPIRED(1),
    /** Moved to another destination, or dropped as a dead letter. */
    MOVED(2),
    /** Another message with the same key was acknowledged. */
    SUPPRESSED(3);

    private final int code;

    Reason(int code) {
      this.code = code;
    }

    /** The code on disk. */
    public int code() {
      return code;
    }

    /** The reason of a code. */
    public static Reason of(int code) {
      for (Reason reason : values()) {
        if (reason.code == code) {
          return reason;
        }
      }
      throw new MalformedRecordException("acknowledge reason " + code + " is unknown; 0 to 3 are");
    }
  }

  /**
   * A subscription needs these messages no more.
   *
   * @param seen by which keys it knows their duplicates from now on
   */
  record Acked(
      long destinationId,
      long subscriptionId,
      Reason reason,
      List<SequenceRange> ranges,
      SeenKeys seen)
      implements Part {
    public Acked {
      ranges = List.copyOf(ranges);
    }

    /** Messages without keys. */
    public Acked(
        long destinationId, long subscriptionId, Reason reason, List<SequenceRange> ranges) {
      this(destinationId, subscriptionId, reason, ranges, SeenKeys.NONE);
    }
  }

  /**
   * Keys of acknowledged messages.
   *
   * @param atMillis when, by the wall clock; 0 without keys
   */
  record SeenKeys(long atMillis, List<UUID> keys) {
    /** No keys. */
    public static final SeenKeys NONE = new SeenKeys(0, List.of());

    public SeenKeys {
      keys = List.copyOf(keys);
    }
  }

  /** A subscription needs nothing of a lane up to a sequence, but for what is kept. */
  record Purged(
      long destinationId, long subscriptionId, int lane, long through, List<SequenceRange> kept)
      implements ShardRecord {
    public Purged {
      kept = List.copyOf(kept);
    }
  }

  /** These messages may be given to consumers from now on, whether they are there or still come. */
  record Touched(long destinationId, long subscriptionId, int lane, long from, long count)
      implements ShardRecord {}

  /**
   * A link is in use.
   *
   * @param answersFrom the client wants no answer below; numbers below are taken
   * @param owner the user whose link it is; null where that is not known
   * @param epoch the link epoch of this attach; 0 where that is not known
   */
  record LinkAttached(UUID link, long answersFrom, @Nullable String owner, long epoch)
      implements ShardRecord {

    /** What version 1 of the record tells. */
    public LinkAttached(UUID link, long answersFrom) {
      this(link, answersFrom, null, 0);
    }
  }

  /** A link ended in order or was not used for too long. */
  record LinkClosed(UUID link) implements ShardRecord {}

  /** A numbered run or commit was refused; its number is spent. */
  record Refused(UUID link, long number, FaultCode code, String text) implements ShardRecord {}

  /** An attempt to process these messages has failed: each counts one more. */
  record Attempted(long destinationId, long subscriptionId, List<SequenceRange> ranges)
      implements ShardRecord {
    public Attempted {
      ranges = List.copyOf(ranges);
    }
  }

  /** What {@link Attempted} counted was no failed attempt: each counts one less. */
  record AttemptTakenBack(long destinationId, long subscriptionId, List<SequenceRange> ranges)
      implements ShardRecord {
    public AttemptTakenBack {
      ranges = List.copyOf(ranges);
    }
  }

  /** What becomes of messages that could not be read. */
  enum AsideAction {
    /** Nobody gets them; they are needed as before. */
    SET_ASIDE(0),
    /** They are free again, to be read once more. */
    GIVEN_BACK(1),
    /** Nobody needs them any more. */
    DROPPED(2);

    private final int code;

    AsideAction(int code) {
      this.code = code;
    }

    /** Its byte in a record. */
    public int code() {
      return code;
    }

    /** The action of a code. */
    public static AsideAction of(int code) {
      for (AsideAction action : values()) {
        if (action.code == code) {
          return action;
        }
      }
      throw new MalformedRecordException(
          "what becomes of damaged messages, " + code + ", is unknown; 0 to 2 are");
    }
  }

  /**
   * Messages of a destination could not be read, or what becomes of those of which that is so.
   *
   * @param reason what the read said, for people
   */
  record SetAside(long destinationId, AsideAction action, List<SequenceRange> ranges, String reason)
      implements ShardRecord {
    public SetAside {
      ranges = List.copyOf(ranges);
    }
  }

  /** A transaction is kept from now on before it is committed; ids are never reused. */
  record TransactionBegun(long transaction, TransactionName name) implements ShardRecord {}

  /**
   * A transaction acknowledges messages, if it is committed: until then nobody gets them.
   *
   * @param seen by which keys the subscription knows their duplicates then
   */
  record Held(
      long transaction,
      long destinationId,
      long subscriptionId,
      List<SequenceRange> ranges,
      SeenKeys seen)
      implements Part {
    public Held {
      ranges = List.copyOf(ranges);
    }
  }

  /**
   * A subscription that came after messages were staged does not want some of them.
   *
   * @param stagedId the destination in which they are staged
   * @param firstSequence of the first of the messages among which they are
   */
  record StagedUnwanted(
      long transaction, long stagedId, int lane, long firstSequence, Unwanted unwanted)
      implements ShardRecord {}

  /** A transaction is kept until it is decided, whatever becomes of whoever made it. */
  record Prepared(long transaction, long atMillis) implements Part {}

  /**
   * A transaction is committed: what was staged of it is in its destinations from now on, without
   * being written again, and what it holds is acknowledged.
   *
   * @param atMillis when, by the broker's clock
   */
  record Released(long transaction, long atMillis, List<ReleasedLane> lanes) implements Part {
    public Released {
      lanes = List.copyOf(lanes);
    }
  }

  /**
   * All of a lane in which messages were staged belongs to another lane of the same code.
   *
   * @param stagedId the destination in which they were staged, which is gone with the record
   * @param count so many messages
   * @param firstSequence of the first one where it is from now on; it continues that lane
   */
  record ReleasedLane(long stagedId, int lane, int count, long destinationId, long firstSequence) {}

  /** A transaction is rolled back: what was staged is gone, and what it holds is free again. */
  record Dropped(long transaction) implements Part {}

  /**
   * An administrator decides a prepared branch in the place of its transaction manager: its name is
   * kept with what was decided. Comes before {@link Released} or {@link Dropped}.
   */
  record Decided(long transaction, boolean committed) implements Part {}

  /** The transaction manager knows how a branch was decided: its name is kept no more. */
  record Forgotten(long transaction) implements Part {}

  /**
   * A transaction: its parts count together or, if the batch is lost, not at all.
   *
   * @param link whose transaction it is; null for a move of the broker's own, which has no number
   */
  record Committed(@Nullable UUID link, long number, List<Part> parts) implements ShardRecord {
    public Committed {
      parts = List.copyOf(parts);
    }
  }

  /**
   * The entries of a run, where they lie in the journal.
   *
   * @param offset the journal offset of the first entry
   * @param lengths bytes of each entry; they lie back to back
   * @param grouped whether any of them has a JMSXGroupID
   */
  record Entries(long offset, int[] lengths, boolean grouped) {
    /** Entries without a JMSXGroupID. */
    public Entries(long offset, int[] lengths) {
      this(offset, lengths, false);
    }

    /** How many entries there are. */
    public int count() {
      return lengths.length;
    }

    /** Bytes of all entries. */
    public int bytes() {
      int bytes = 0;
      for (int length : lengths) {
        bytes += length;
      }
      return bytes;
    }
  }
}
