package io.lightmq.core.runtime;

import java.security.SecureRandom;
import java.util.UUID;

/** Ids from the system's strong random source. */
final class RandomIds implements Ids {
  private final SecureRandom random = new SecureRandom();

  @Override
  public UUID next() {
    return new UUID(random.nextLong(), random.nextLong());
  }
}
