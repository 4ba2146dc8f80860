package io.lightmq.core.storage.snapshot;

import java.io.IOException;

/** A snapshot that fails its checks; another one may be good. */
final class InvalidSnapshotException extends IOException {
  InvalidSnapshotException(String message) {
    super(message);
  }
}
