package io.lightmq.node;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.node.connection.ConnectionSettings;
import io.lightmq.node.credit.CreditSettings;

/**
 * What a node may be told at start.
 *
 * @param broker the shard, its journal and its storage
 * @param connections limits of each connection
 * @param creditBytes what all clients together may have under way to the broker
 * @param firstCreditBytes what a connection gets at first while there is room
 * @param maxCreditBytes what a busy connection's credit grows to
 * @param deliveryBytes what all clients together may have waiting to be written to them
 */
public record NodeSettings(
    BrokerSettings broker,
    ConnectionSettings connections,
    long creditBytes,
    long firstCreditBytes,
    long maxCreditBytes,
    long deliveryBytes) {

  public NodeSettings {
    if (broker.limits().maxMessageBytes() != connections.sizes().maxMessageBytes()
        || broker.limits().maxTransactionBytes() != connections.sizes().maxTransactionBytes()) {
      throw new IllegalArgumentException(
          "shard and connections differ in the largest message or transaction: "
              + broker.limits().maxMessageBytes()
              + " and "
              + broker.limits().maxTransactionBytes()
              + " bytes against "
              + connections.sizes().maxMessageBytes()
              + " and "
              + connections.sizes().maxTransactionBytes());
    }
    credit(connections, creditBytes, firstCreditBytes, maxCreditBytes);
    if (deliveryBytes < connections.sizes().maxDeliveryBytes()) {
      throw new IllegalArgumentException(
          "deliveryBytes is "
              + deliveryBytes
              + " but must hold at least one delivery of "
              + connections.sizes().maxDeliveryBytes()
              + " bytes");
    }
  }

  /** Settings for a heap of at least 512 MiB. */
  public static NodeSettings defaults() {
    return new NodeSettings(
        BrokerSettings.defaults(),
        ConnectionSettings.defaults(),
        128L << 20,
        1L << 20,
        64L << 20,
        64L << 20);
  }

  /** What commits of all clients together may have on the way to the broker. */
  long commitBytes() {
    return Math.max(connections.maxFrameBytes(), creditBytes / 4);
  }

  /** What other long requests of all clients together may have arriving. */
  long requestBytes() {
    return 8L * ConnectionSettings.MAX_REQUEST_BYTES;
  }

  /** How publish credit is shared out. */
  CreditSettings credit() {
    return credit(connections, creditBytes, firstCreditBytes, maxCreditBytes);
  }

  private static CreditSettings credit(
      ConnectionSettings connections, long budgetBytes, long firstBytes, long maxBytes) {
    return new CreditSettings(
        budgetBytes,
        firstBytes,
        maxBytes,
        connections.maxFrameBytes(),
        connections.counts().connections());
  }
}
