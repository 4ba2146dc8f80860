package io.lightmq.core.shard;

import io.lightmq.core.checkpoint.Checkpoints;
import io.lightmq.core.intake.Placing;
import io.lightmq.core.intake.Staging;
import io.lightmq.core.runtime.OwnedBy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Refuses persistent messages while the disk has too little room, and has dead bytes given back.
 *
 * @param leastBytes have to be free
 */
@OwnedBy("shard")
record DiskGuard(long leastBytes, Checkpoints checkpoints) {
  private static final Logger log = LoggerFactory.getLogger(DiskGuard.class);

  /** So much is free. */
  void saw(long usableBytes, Placing placing, Staging staging) {
    boolean full = usableBytes < leastBytes || checkpoints.outOfRoom();
    if (full != placing.diskFull()) {
      log.warn(
          "{} bytes are free, the limit is {}{}: persistent messages are {}",
          usableBytes,
          leastBytes,
          checkpoints.outOfRoom() ? ", and a checkpoint found no room" : "",
          full ? "refused" : "taken again");
    }
    if (full) {
      checkpoints.lookForDeadBytes(
          dead -> {
            if (dead > leastBytes / 8) {
              checkpoints.want();
            }
          });
    }
    placing.diskFull(full);
    staging.sawDisk(usableBytes);
  }
}
