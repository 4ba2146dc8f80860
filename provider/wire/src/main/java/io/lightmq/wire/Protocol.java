package io.lightmq.wire;

import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;

/** Numbers of the protocol, and what both sides agree on in the handshake. */
public final class Protocol {
  /** The oldest version that this program speaks. */
  public static final int MIN_VERSION = 1;

  /** The newest version that this program speaks. */
  public static final int MAX_VERSION = 1;

  /**
   * Feature: {@link Frame.CreateTemporary} has a number, from which the broker makes the name, the
   * same one each time that this link asks.
   */
  public static final long TEMPORARY_BY_LINK = 1;

  /** Feature: {@link Frame.Attached} tells since when the broker knows the link. */
  public static final long LINK_KNOWN = 1 << 1;

  /**
   * Feature: a transaction may be staged in the broker, piece by piece, and a branch of a
   * distributed one prepared: {@link Frame.Stage}, {@link Frame.Prepare}, {@link Frame.Decide},
   * {@link Frame.Abandon}, {@link Frame.Recover}, and the end of {@link Frame.Commit}.
   */
  public static final long TRANSACTIONS = 1 << 2;

  /** The optional features that a client of this program knows, as a bit set. */
  public static final long FEATURES = TEMPORARY_BY_LINK | LINK_KNOWN | TRANSACTIONS;

  /** Those that a broker of this program serves. */
  private static final long SERVED = TEMPORARY_BY_LINK | LINK_KNOWN | TRANSACTIONS;

  /** The port when none is given. */
  public static final int DEFAULT_PORT = 7654;

  /** The longest frame before authentication. */
  public static final int HANDSHAKE_FRAME_BYTES = 16 * 1024;

  /**
   * The longest frame at all, whatever a peer says that it takes or sends: the longest entry that a
   * broker can be configured for, and 64 KiB.
   */
  public static final int MAX_FRAME_BYTES = (16 << 20) + (64 << 10);

  /** The most messages of a run. */
  public static final int MAX_RUN_MESSAGES = 20_000;

  /** The most pulls in one frame. */
  public static final int MAX_PULLS = 10_000;

  /** The most items in all lists of one frame together: bounds what a frame costs in objects. */
  public static final int MAX_ITEMS = 100_000;

  /** The most arguments of a verb. */
  public static final int MAX_ARGUMENTS = 256;

  /** The most branches in one {@link Frame.Recovered}. */
  public static final int MAX_RECOVERED = 1_000;

  /** The longest cause in a {@link Frame.Return}. */
  public static final int MAX_CAUSE_CHARS = 1_024;

  /** The field in front of a frame that says how many bytes follow. */
  static final int LENGTH_BYTES = 4;

  /** Length, type, flags, reserved, correlation. */
  static final int HEADER_BYTES = 12;

  private Protocol() {}

  /** The first frame of a client of this version. */
  public static Frame.Hello hello(String product) {
    return new Frame.Hello(MIN_VERSION, MAX_VERSION, FEATURES, product);
  }

  /**
   * The newest version that both sides speak.
   *
   * @throws ProtocolException VERSION_MISMATCH if there is none
   */
  public static int negotiate(Frame.Hello hello) {
    int version = Math.min(hello.maxVersion(), MAX_VERSION);
    if (version < Math.max(hello.minVersion(), MIN_VERSION)) {
      throw new ProtocolException(
          FaultCode.VERSION_MISMATCH,
          "the client "
              + Printable.of(hello.product())
              + " speaks protocol versions "
              + hello.minVersion()
              + " to "
              + hello.maxVersion()
              + ", this broker "
              + MIN_VERSION
              + " to "
              + MAX_VERSION
              + "; use a client and a broker of neighbouring releases");
    }
    return version;
  }

  /** The features that a client offers and a broker of this program serves. */
  public static long features(Frame.Hello hello) {
    return hello.features() & SERVED;
  }

  /**
   * Checks a broker's answer on the client's side.
   *
   * @throws ProtocolException if it chose a version or a feature that was not offered, or a limit
   *     that cannot be
   */
  public static void check(Frame.Welcome welcome) {
    if (welcome.version() < MIN_VERSION || welcome.version() > MAX_VERSION) {
      throw new ProtocolException(
          FaultCode.VERSION_MISMATCH,
          "the broker chose protocol version "
              + welcome.version()
              + ", offered were "
              + MIN_VERSION
              + " to "
              + MAX_VERSION);
    }
    if ((welcome.features() & ~FEATURES) != 0) {
      throw ProtocolException.bad(
          "the broker chose features "
              + Long.toHexString(welcome.features())
              + ", offered were "
              + Long.toHexString(FEATURES));
    }
    if (welcome.maxFrameBytes() < HANDSHAKE_FRAME_BYTES
        || welcome.maxMessageBytes() > welcome.maxFrameBytes()) {
      throw ProtocolException.bad(
          "the broker's limits cannot be: frames of "
              + welcome.maxFrameBytes()
              + " bytes, messages of "
              + welcome.maxMessageBytes());
    }
  }
}
