package io.lightmq.core.storage.journal;

import io.lightmq.core.runtime.FatalHandler;
import io.lightmq.core.runtime.ThreadLoops;
import io.lightmq.core.storage.NioDisk;
import io.lightmq.spi.Journal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A sanity check by hand: forced 1 KiB batches a second for 1, 16 and 256 waiters. Arguments: an
 * empty directory, seconds.
 */
final class JournalThroughput {
  private static final int LENGTH = 1088;

  private JournalThroughput() {}

  public static void main(String[] args) throws Exception {
    for (int waiters : new int[] {1, 16, 256}) {
      Path directory = Path.of(args[0], "waiters-" + waiters);
      try (NioDisk disk = NioDisk.open(directory);
          ThreadLoops loops = new ThreadLoops(FatalHandler.halt());
          LocalJournal journal =
              new LocalJournal(disk, loops, JournalSettings.defaults(), new UUID(1, 2))) {
        journal.start(0, Runnable::run, new Silent());
        long rate = measure(journal, waiters, Integer.parseInt(args[1]));
        System.out.printf(
            "%3d waiters: %,d forced batches/s, %s%n", waiters, rate, journal.times().forces());
      }
    }
  }

  private static long measure(LocalJournal journal, int waiters, int seconds) throws Exception {
    AtomicLong done = new AtomicLong();
    Object order = new Object();
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    CountDownLatch ended = new CountDownLatch(waiters);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < waiters; i++) {
      Thread thread =
          new Thread(
              () -> {
                Semaphore receipt = new Semaphore(0);
                byte[] payload = new byte[LENGTH - 64];
                while (System.nanoTime() < end) {
                  synchronized (order) {
                    long offset = journal.appended();
                    ByteBuffer[] bytes = {ByteBuffer.allocateDirect(LENGTH)};
                    TestBatch batch = new TestBatch(offset, payload, bytes, false, true);
                    batch.whenCompleted = completed -> receipt.release();
                    journal.append(1, 0, batch);
                    if (journal.usedBytes() > journal.capacityBytes() / 8 * 7) {
                      journal.trim(journal.durable());
                    }
                  }
                  receipt.acquireUninterruptibly();
                  done.incrementAndGet();
                }
                ended.countDown();
              });
      threads.add(thread);
      thread.start();
    }
    ended.await();
    return done.get() / seconds;
  }

  private static final class Silent implements Journal.Listener {
    @Override
    public void replay(long offset, ByteBuffer records) {}

    @Override
    public void leader(long epoch, long from) {}

    @Override
    public void follower() {}

    @Override
    public void lost(int pending) {}

    @Override
    public void committed(long offset, ByteBuffer records) {}

    @Override
    public void failed(IOException cause) {
      throw new IllegalStateException(cause);
    }
  }
}
