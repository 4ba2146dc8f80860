package io.lightmq.spi;

/** A point that a journal reaches with every batch, in this order. */
public enum Mark {
  /** The batch is in the page cache: it survives the broker's process, not the machine. */
  WRITTEN,
  /** The batch is forced to the device; in a cluster, committed by a majority. */
  DURABLE
}
