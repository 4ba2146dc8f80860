package io.lightmq.core.runtime;

import java.util.UUID;

/** Random 128-bit ids; seeded in tests. Any thread. */
public interface Ids {
  /** A new id, all 128 bits random. */
  UUID next();
}
