package io.lightmq.core.simulation;

import org.jspecify.annotations.Nullable;

/** What one subscription's consumers know of a message. */
final class Copy {
  /** Where it is stored. */
  record Place(long destinationId, int lane, long sequence) {}

  final Message message;
  final Followed followed;

  /** Where it was last seen. */
  @Nullable Place place;

  /** The power may have taken that it came to its place, where nobody waits for a force. */
  boolean mayComeAnew;

  /** Some consumer, perhaps a dead one, was sent it. */
  boolean came;

  /** An application has seen it where it is now. */
  boolean seen;

  /** Who has it in hand. */
  @Nullable Taker holder;

  /** Its acknowledgement was sent, confirmed, confirmed durably; and may have been lost since. */
  boolean asked;

  /** The era of the broker in which its acknowledgement was sent. */
  int askedEra = -1;

  boolean acknowledged;
  boolean acknowledgedDurably;
  boolean acknowledgementMayBeLost;

  /** It went to a consumer that acknowledges by pulling. */
  boolean consumed;

  boolean consumedMayComeAgain;

  /** The commit that acknowledges it. */
  @Nullable Transaction transaction;

  /** A transaction that is staged holds it. */
  boolean staged;

  /** A part of that transaction has no answer yet; a refusal may free what is held. */
  boolean atStake;

  /** How it came meanwhile; wrong unless that part is refused. */
  @Nullable String cameAtStake;

  /** Failed attempts, counted for sure and at most. */
  int fewestFailures;

  int mostFailures;

  /** A purge or a delete may have taken it, or has. */
  boolean mayBeGone;

  boolean gone;

  /** It lay among dead or expired letters. */
  int letters;

  /** One of several letters may be of it. */
  boolean mayBeLetter;

  Copy(Message message, Followed followed) {
    this.message = message;
    this.followed = followed;
  }

  /** Whether it may be a dead letter by now. */
  boolean mayBeExhausted() {
    int most = followed.destination.maxAttempts;
    return most > 0 && mostFailures >= most;
  }

  /** The same, or it becomes one if the commit that acknowledges it and waits is rolled back. */
  boolean mayBecomeExhausted() {
    int most = followed.destination.maxAttempts;
    return most > 0 && mostFailures + (asked && !acknowledged ? 1 : 0) >= most;
  }

  /** It comes at a new place: what was counted before counts no more. */
  void moved(Place to) {
    place = to;
    mayComeAnew = false;
    seen = false;
    asked = false;
    acknowledged = false;
    acknowledgedDurably = false;
    acknowledgementMayBeLost = false;
    transaction = null;
    fewestFailures = 0;
    mostFailures = 0;
  }

  /** It comes again although its acknowledgement was sent, perhaps in a commit that is refused. */
  void cameAgain() {
    mostFailures += transaction == null ? 0 : 1;
    asked = false;
    acknowledged = false;
    acknowledgedDurably = false;
    transaction = null;
  }

  /** The process has ended, or the machine. */
  void crashed(boolean power) {
    holder = null;
    staged = false;
    atStake = false;
    cameAtStake = null;
    acknowledgementMayBeLost |= power && acknowledged && !acknowledgedDurably;
    consumedMayComeAgain |= consumed && power && !followed.destination.high;
    mayComeAnew |= power && !followed.destination.high && (message.isDelayed() || !message.durably);
  }

  @Override
  public String toString() {
    return message
        + " of "
        + followed
        + (place == null ? "" : " at " + place)
        + (came ? seen ? " seen" : " came" : "")
        + (holder == null ? "" : " held by " + holder)
        + (asked ? acknowledged ? " acknowledged" : " acknowledgement sent" : "")
        + (acknowledgementMayBeLost ? ", perhaps in vain" : "")
        + (consumed ? " consumed" : "")
        + (mostFailures == 0 ? "" : " failures " + fewestFailures + " to " + mostFailures)
        + (gone ? " gone" : mayBeGone ? " may be gone" : "")
        + (letters == 0 ? "" : " letters " + letters);
  }
}
