package io.lightmq.core.storage.journal;

import io.lightmq.spi.Journal;
import java.util.concurrent.atomic.AtomicLong;

/** How long one kind of call to the disk took. One thread at a time adds; any thread reads. */
final class IoTimes {
  private final AtomicLong count = new AtomicLong();
  private final AtomicLong total = new AtomicLong();

  void add(long nanos) {
    count.lazySet(count.get() + 1);
    total.lazySet(total.get() + nanos);
  }

  Journal.Calls read() {
    return new Journal.Calls(count.get(), total.get());
  }
}
