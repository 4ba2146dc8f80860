package io.lightmq.core.destination;

import io.lightmq.wire.entry.SequenceRange;
import java.util.List;

/**
 * An acknowledgement as the cursor allows it.
 *
 * @param accepted what may be recorded
 * @param refused how many sequences are not this consumer's to acknowledge
 */
public record Split(List<SequenceRange> accepted, long refused) {
  public Split {
    accepted = List.copyOf(accepted);
  }
}
