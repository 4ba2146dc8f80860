package io.lightmq.tck.suite;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Writes the outcome of each test as it ends. A test that has not ended after {@value
 * #LIMIT_RECEIVES} times the limit of one receive, or {@value #MIN_LIMIT_SECONDS} s if that is
 * more, fails and ends the process: some receives of the suite have no limit.
 */
final class ResultFile implements TestExecutionListener, AutoCloseable {

  private static final int LIMIT_RECEIVES = 24;
  private static final int MIN_LIMIT_SECONDS = 90;
  private static final int HUNG = 3;
  private static final int STACK_DEPTH = 14;

  private final Writer out;
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "test-limit");
            thread.setDaemon(true);
            return thread;
          });
  private final long limitMillis =
      Math.max(MIN_LIMIT_SECONDS * 1000L, LIMIT_RECEIVES * Long.getLong("jms_timeout"));
  private long beganNanos;
  private @Nullable Future<?> limit;

  ResultFile(Path file) throws IOException {
    out = Files.newBufferedWriter(file);
  }

  @Override
  public void executionStarted(TestIdentifier test) {
    if (test.isTest()) {
      beganNanos = System.nanoTime();
      String name = JUnitMain.name(test);
      System.err.println("==== " + name);
      Thread runner = Thread.currentThread();
      limit = clock.schedule(() -> giveUp(name, runner), limitMillis, TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (test.isTest()) {
      if (limit != null) {
        limit.cancel(false);
      }
      TestOutcome.Status status =
          switch (result.getStatus()) {
            case SUCCESSFUL -> TestOutcome.Status.PASSED;
            case ABORTED -> TestOutcome.Status.SKIPPED;
            case FAILED -> TestOutcome.Status.FAILED;
          };
      result.getThrowable().ifPresent(Throwable::printStackTrace);
      write(JUnitMain.name(test), status, result.getThrowable().map(ResultFile::words).orElse(""));
    }
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    if (test.isTest()) {
      beganNanos = System.nanoTime();
      write(JUnitMain.name(test), TestOutcome.Status.SKIPPED, reason);
    }
  }

  @Override
  public void close() throws IOException {
    clock.shutdownNow();
    out.close();
  }

  private void giveUp(String name, Thread runner) {
    String where =
        Arrays.stream(runner.getStackTrace())
            .limit(STACK_DEPTH)
            .map(StackTraceElement::toString)
            .collect(Collectors.joining(" < "));
    write(name, TestOutcome.Status.FAILED, "hung at " + where);
    Runtime.getRuntime().halt(HUNG);
  }

  private synchronized void write(String name, TestOutcome.Status status, String reason) {
    long millis = (System.nanoTime() - beganNanos) / 1_000_000;
    try {
      out.write(new TestOutcome(name, status, millis, reason).line() + "\n");
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String words(Throwable thrown) {
    StringBuilder words = new StringBuilder(thrown.toString());
    int depth = 0;
    for (Throwable cause = thrown.getCause();
        cause != null && depth < STACK_DEPTH;
        cause = cause.getCause()) {
      words.append(" <- ").append(cause);
      depth++;
    }
    return words.toString();
  }
}
