package io.lightmq.core.sessions;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.NamedHeap;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.DestinationName;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A queue that a {@code Plan} needs and that is not there: a holder of delayed messages, or where
 * dead letters go. It may be created, and is when the plan is carried out.
 */
@OwnedBy("shard")
public final class MissingQueue {
  private static final int RECORD_BYTES = 64;

  private final DestinationName name;
  private final DestinationSettings settings;
  private @Nullable Destination created;

  MissingQueue(DestinationName name, DestinationSettings settings) {
    this.name = name;
    this.settings = settings;
  }

  public DestinationName name() {
    return name;
  }

  public DestinationSettings settings() {
    return settings;
  }

  /** The bytes of the record that creates it, at most: its name and its settings may be long. */
  public int recordBytes() {
    return RECORD_BYTES
        + name.name().getBytes(StandardCharsets.UTF_8).length
        + settings.encodedBytes();
  }

  /** The heap that it takes. */
  public long heapBytes() {
    return NamedHeap.of(name.name(), true);
  }

  /** It is there from now on. */
  public void created(Destination destination) {
    created = destination;
  }

  /** What was created. */
  public Destination destination() {
    if (created == null) {
      throw new IllegalStateException(name + " is not created yet");
    }
    return created;
  }
}
