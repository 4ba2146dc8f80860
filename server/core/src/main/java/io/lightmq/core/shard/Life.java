package io.lightmq.core.shard;

/** Where a shard is in its life, and an owner in its own, which begins as it leads. */
enum Life {
  /** The state is read from snapshot and journal; what the journal tells is kept back. */
  RECOVERING,
  /** What the journal commits is applied; clients are sent away. */
  FOLLOWING,
  /** Commands are decided. */
  LEADING,
  /** The record of an orderly end is made, and nothing is recorded behind it. */
  CLOSING,
  /** Nothing is done any more: closed in order, failed, or another one leads. */
  ENDED
}
