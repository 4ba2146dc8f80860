package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.NamedHeap;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.DestinationName;
import org.jspecify.annotations.Nullable;

/**
 * A queue that a {@link Plan} needs and that is not there: a holder of delayed messages, or where
 * dead letters go. It may be created, and is when the plan is carried out.
 */
@OwnedBy("shard")
final class MissingQueue {
  private final DestinationName name;
  private final DestinationSettings settings;
  private @Nullable Destination created;

  MissingQueue(DestinationName name, DestinationSettings settings) {
    this.name = name;
    this.settings = settings;
  }

  DestinationName name() {
    return name;
  }

  DestinationSettings settings() {
    return settings;
  }

  /** The heap that it takes. */
  long heapBytes() {
    return NamedHeap.of(name.name(), true);
  }

  /** It is there from now on. */
  void created(Destination destination) {
    created = destination;
  }

  /** What was created. */
  Destination destination() {
    if (created == null) {
      throw new IllegalStateException(name + " is not created yet");
    }
    return created;
  }
}
