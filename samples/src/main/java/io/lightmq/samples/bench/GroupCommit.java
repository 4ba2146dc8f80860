package io.lightmq.samples.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What this machine can do at most: n threads that each wait for a forced append of 1 KiB to a
 * preallocated file of zeros, while one writer gathers what waits into one write and one force.
 */
final class GroupCommit {

  private static final int RECORD_BYTES = 1_024;
  private static final long FILE_BYTES = 64L << 20;
  private static final int CHUNK_BYTES = 1 << 20;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();
  private final ArrayDeque<Waiter> waiting = new ArrayDeque<>();
  private final FileChannel file;
  private final ByteBuffer batch = ByteBuffer.allocateDirect(CHUNK_BYTES);
  private long position;
  private boolean over;
  private @Nullable IOException failure;

  private GroupCommit(FileChannel file) {
    this.file = file;
  }

  /** Forced appends a second with so many threads, measured over the given time. */
  static double perSecond(Path directory, int waiters, long millis)
      throws IOException, InterruptedException {
    Path path = Files.createTempFile(directory, "group-commit-", ".bin");
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      ByteBuffer zeros = ByteBuffer.allocateDirect(CHUNK_BYTES);
      for (long at = 0; at < FILE_BYTES; at += CHUNK_BYTES) {
        file.write(zeros.clear(), at);
      }
      file.force(true);
      return new GroupCommit(file).measure(waiters, millis);
    } finally {
      Files.delete(path);
    }
  }

  private double measure(int waiters, long millis) throws IOException, InterruptedException {
    Thread writer = new Thread(this::writeBatches, "group-commit-writer");
    writer.start();
    List<Waiter> all = new ArrayList<>();
    for (int i = 0; i < waiters; i++) {
      Waiter waiter = new Waiter("group-commit-waiter-" + i);
      all.add(waiter);
      waiter.start();
    }
    Thread.sleep(millis / 5);
    long before = all.stream().mapToLong(waiter -> waiter.appends).sum();
    long beganNanos = System.nanoTime();
    Thread.sleep(millis);
    long appends = all.stream().mapToLong(waiter -> waiter.appends).sum() - before;
    double seconds = (System.nanoTime() - beganNanos) / 1e9;
    end();
    for (Waiter waiter : all) {
      waiter.join();
    }
    writer.join();
    if (failure != null) {
      throw failure;
    }
    return appends / seconds;
  }

  private void end() {
    lock.lock();
    try {
      over = true;
      work.signalAll();
      waiting.forEach(waiter -> waiter.done.signal());
    } finally {
      lock.unlock();
    }
  }

  private void writeBatches() {
    List<Waiter> gathered = new ArrayList<>();
    try {
      while (gather(gathered)) {
        write(gathered.size());
        release(gathered);
        gathered.clear();
      }
    } catch (IOException e) {
      failure = e;
      end();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean gather(List<Waiter> gathered) throws InterruptedException {
    lock.lock();
    try {
      while (waiting.isEmpty() && !over) {
        work.await();
      }
      while (!waiting.isEmpty() && gathered.size() < CHUNK_BYTES / RECORD_BYTES) {
        gathered.add(waiting.remove());
      }
      return !over;
    } finally {
      lock.unlock();
    }
  }

  private void write(int records) throws IOException {
    int bytes = records * RECORD_BYTES;
    batch.clear().limit(bytes);
    if (position + bytes > FILE_BYTES) {
      position = 0;
    }
    while (batch.hasRemaining()) {
      position += file.write(batch, position);
    }
    file.force(false);
  }

  private void release(List<Waiter> gathered) {
    lock.lock();
    try {
      for (Waiter waiter : gathered) {
        waiter.forced = true;
        waiter.done.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /** One thread that appends and waits, again and again. */
  private final class Waiter extends Thread {
    private final Condition done = lock.newCondition();
    private boolean forced;
    private volatile long appends;

    private Waiter(String name) {
      super(name);
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // only this thread writes it
    public void run() {
      try {
        while (append()) {
          appends++;
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private boolean append() throws InterruptedException {
      lock.lock();
      try {
        forced = false;
        waiting.add(this);
        work.signal();
        while (!forced && !over) {
          done.await();
        }
        return !over;
      } finally {
        lock.unlock();
      }
    }
  }
}
