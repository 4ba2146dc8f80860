package io.lightmq.core.storage.snapshot;

import java.io.IOException;

/** A good snapshot of a version that this software does not read; an older one is no substitute. */
final class NewerSnapshotException extends IOException {
  NewerSnapshotException(String message) {
    super(message);
  }
}
