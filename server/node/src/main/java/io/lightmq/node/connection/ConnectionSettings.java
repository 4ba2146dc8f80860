package io.lightmq.node.connection;

/**
 * Limits of every connection; what is reached is named in the error that the client gets.
 *
 * @param connections open at once
 * @param sessions per connection
 * @param consumers per connection
 * @param producers per connection
 * @param openRequests per connection without an answer, and as many that want none (pulls,
 *     acknowledgements) and are not carried out; at the limit nothing more is read
 * @param maxMessageBytes the longest encoded message
 * @param maxTransactionBytes the most message bytes in one commit
 * @param maxDeliveryBytes the most entry bytes in one delivery; a larger pull gets so many
 * @param outboundBytes per connection, waiting to be written, before deliveries pause
 * @param handshakeMillis from accept to attach
 * @param heartbeatMillis after a third of it a side that has nothing to say sends a sign of life;
 *     after three times of silence the other side is dead
 * @param stallMillis without outbound progress before the connection is closed
 */
public record ConnectionSettings(
    int connections,
    int sessions,
    int consumers,
    int producers,
    int openRequests,
    int maxMessageBytes,
    int maxTransactionBytes,
    int maxDeliveryBytes,
    int outboundBytes,
    int handshakeMillis,
    int heartbeatMillis,
    int stallMillis) {

  /** What a frame may have beyond its messages. */
  private static final int FRAME_OVERHEAD_BYTES = 64 << 10;

  /** The longest frame that is neither a run nor a commit. */
  public static final int MAX_REQUEST_BYTES = 256 << 10;

  public ConnectionSettings {
    check("connections", connections, 1, 1_000_000);
    check("sessions", sessions, 1, 1_000_000);
    check("consumers", consumers, 1, 1_000_000);
    check("producers", producers, 1, 1_000_000);
    check("openRequests", openRequests, 16, 1_000_000);
    check("maxMessageBytes", maxMessageBytes, 64, 64 << 20);
    check("maxTransactionBytes", maxTransactionBytes, 1, 64 << 20);
    check("maxDeliveryBytes", maxDeliveryBytes, 1 << 10, 16 << 20);
    check("outboundBytes", outboundBytes, 1 << 10, 64 << 20);
    check("handshakeMillis", handshakeMillis, 1, 600_000);
    check("heartbeatMillis", heartbeatMillis, 30, 600_000);
    check("stallMillis", stallMillis, 10, 600_000);
  }

  private static void check(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " is " + value + " but must be " + least + " to " + most);
    }
  }

  /** The limits that the documentation names. */
  public static ConnectionSettings defaults() {
    return new ConnectionSettings(
        1_000, 1_000, 10_000, 10_000, 16_384, 4 << 20, 1 << 20, 512 << 10, 256 << 10, 5_000, 10_000,
        10_000);
  }

  /** The longest frame that a client may send after authentication. */
  public int maxFrameBytes() {
    return Math.max(maxMessageBytes, maxTransactionBytes) + FRAME_OVERHEAD_BYTES;
  }
}
