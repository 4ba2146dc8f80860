package io.lightmq.core.sessions;

import io.lightmq.core.destination.Destination;
import io.lightmq.wire.entry.DestinationName;
import org.jspecify.annotations.Nullable;

/** Where a message goes: a destination that is there, or a queue that is created with it. */
public record Target(@Nullable Destination there, @Nullable MissingQueue missing) {
  public Target {
    if ((there == null) == (missing == null)) {
      throw new IllegalArgumentException("a target is either there or missing");
    }
  }

  /** A destination that is there. */
  public static Target of(Destination there) {
    return new Target(there, null);
  }

  public DestinationName name() {
    if (there != null) {
      return there.name();
    }
    if (missing != null) {
      return missing.name();
    }
    throw new IllegalStateException("checked when it was made");
  }
}
