package io.lightmq.client;

import io.lightmq.client.xa.Xids;
import java.util.concurrent.atomic.AtomicInteger;
import javax.transaction.xa.Xid;

/** Names of branches for tests, each once: all tests share the branches of this process. */
final class FreshXids {
  private static final AtomicInteger LAST = new AtomicInteger();

  private FreshXids() {}

  /** One that no test has had. */
  static Xid next() {
    int number = LAST.incrementAndGet();
    return Xids.of(
        new io.lightmq.wire.entry.Xid(
            77, new byte[] {(byte) (number >> 8), (byte) number}, new byte[] {1}));
  }
}
