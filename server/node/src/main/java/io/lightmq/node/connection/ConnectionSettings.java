package io.lightmq.node.connection;

/**
 * Limits of every connection, in parts by idea; what is reached is named in the error that the
 * client gets.
 */
public record ConnectionSettings(Counts counts, Sizes sizes, Patience patience) {

  /**
   * How many things there may be.
   *
   * @param connections open at once
   * @param sessions per connection
   * @param consumers per connection
   * @param producers per connection
   * @param openRequests per connection without an answer, and as many that want none (pulls,
   *     acknowledgements) and are not carried out; at the limit nothing more is read
   */
  public record Counts(
      int connections, int sessions, int consumers, int producers, int openRequests) {
    public Counts {
      check("connections", connections, 1, 1_000_000);
      check("sessions", sessions, 1, 1_000_000);
      check("consumers", consumers, 1, 1_000_000);
      check("producers", producers, 1, 1_000_000);
      check("openRequests", openRequests, 16, 1_000_000);
    }

    /** A thousand connections and sessions, ten thousand consumers and producers. */
    public static Counts defaults() {
      return new Counts(1_000, 1_000, 10_000, 10_000, 16_384);
    }

    /** With other requests without an answer. */
    public Counts withOpenRequests(int count) {
      return new Counts(connections, sessions, consumers, producers, count);
    }
  }

  /**
   * How long things may be.
   *
   * @param maxMessageBytes the longest encoded message
   * @param maxTransactionBytes the most message bytes in one commit
   * @param maxDeliveryBytes the most entry bytes in one delivery; a larger pull gets so many
   * @param outboundBytes per connection, waiting to be written, before deliveries pause
   */
  public record Sizes(
      int maxMessageBytes, int maxTransactionBytes, int maxDeliveryBytes, int outboundBytes) {
    public Sizes {
      check("maxMessageBytes", maxMessageBytes, 64, 64 << 20);
      check("maxTransactionBytes", maxTransactionBytes, 1, 64 << 20);
      check("maxDeliveryBytes", maxDeliveryBytes, 1 << 10, 16 << 20);
      check("outboundBytes", outboundBytes, 1 << 10, 64 << 20);
    }

    /** Messages of 4 MiB, transactions of 1 MiB. */
    public static Sizes defaults() {
      return new Sizes(4 << 20, 1 << 20, 512 << 10, 256 << 10);
    }

    /** With another longest message. */
    public Sizes withMaxMessageBytes(int bytes) {
      return new Sizes(bytes, maxTransactionBytes, maxDeliveryBytes, outboundBytes);
    }
  }

  /**
   * How long the other side is waited for.
   *
   * @param handshakeMillis from accept to attach
   * @param heartbeatMillis after a third of it a side that has nothing to say sends a sign of life;
   *     after three times of silence the other side is dead
   * @param stallMillis without outbound progress before the connection is closed
   */
  public record Patience(int handshakeMillis, int heartbeatMillis, int stallMillis) {
    public Patience {
      check("handshakeMillis", handshakeMillis, 1, 600_000);
      check("heartbeatMillis", heartbeatMillis, 30, 600_000);
      check("stallMillis", stallMillis, 10, 600_000);
    }

    /** Five seconds for a handshake, ten for all else. */
    public static Patience defaults() {
      return new Patience(5_000, 10_000, 10_000);
    }
  }

  /** What a frame may have beyond its messages. */
  private static final int FRAME_OVERHEAD_BYTES = 64 << 10;

  /** The longest frame that is neither a run nor a commit. */
  public static final int MAX_REQUEST_BYTES = 256 << 10;

  private static void check(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " is " + value + " but must be " + least + " to " + most);
    }
  }

  /** The limits that the documentation names. */
  public static ConnectionSettings defaults() {
    return new ConnectionSettings(Counts.defaults(), Sizes.defaults(), Patience.defaults());
  }

  /** With other counts. */
  public ConnectionSettings with(Counts part) {
    return new ConnectionSettings(part, sizes, patience);
  }

  /** With other sizes. */
  public ConnectionSettings with(Sizes part) {
    return new ConnectionSettings(counts, part, patience);
  }

  /** The longest frame that a client may send after authentication. */
  public int maxFrameBytes() {
    return Math.max(sizes.maxMessageBytes(), sizes.maxTransactionBytes()) + FRAME_OVERHEAD_BYTES;
  }
}
