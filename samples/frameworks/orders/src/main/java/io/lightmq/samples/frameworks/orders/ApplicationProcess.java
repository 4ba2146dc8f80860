package io.lightmq.samples.frameworks.orders;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** One run of {@link OrderApplication}, from its start to its kill. */
final class ApplicationProcess {
  private static final long LIMIT_SECONDS = 90;

  /** What the application's processes have said to be committed, all together. */
  static final class Confirmed {
    private final BitSet numbers = new BitSet();

    synchronized void add(int number) {
      numbers.set(number);
    }

    synchronized int count() {
      return numbers.cardinality();
    }

    synchronized BitSet numbers() {
      return (BitSet) numbers.clone();
    }
  }

  private final Process process;
  private final Path output;
  private final Confirmed confirmed;
  private final CountDownLatch started = new CountDownLatch(1);
  private final CountDownLatch waits = new CountDownLatch(1);

  private ApplicationProcess(Process process, Path output, Confirmed confirmed) {
    this.process = process;
    this.output = output;
    this.confirmed = confirmed;
  }

  /**
   * Starts one.
   *
   * @param properties such as {@code threads=4}
   */
  static ApplicationProcess start(
      String main, Path work, Confirmed confirmed, List<String> properties) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-Xmx256m");
    command.add("-Djava.util.logging.config.file=" + work.resolve("none"));
    String logging = System.getProperty("logback.configurationFile");
    if (logging != null) {
      command.add("-Dlogback.configurationFile=" + logging);
    }
    command.add("-Dorders.log=" + work.resolve("manager"));
    properties.forEach(each -> command.add("-Dorders." + each));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main, "application"));
    Path output = work.resolve("application.log");
    Process process =
        new ProcessBuilder(command).directory(work.toFile()).redirectErrorStream(true).start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "kill-application"));
    ApplicationProcess made = new ApplicationProcess(process, output, confirmed);
    Thread reader = new Thread(made::read, "application-output");
    reader.setDaemon(true);
    reader.start();
    return made;
  }

  private void read() {
    try (BufferedReader lines = process.inputReader();
        Writer log =
            Files.newBufferedWriter(output, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(OrderApplication.CONFIRMED)) {
          confirmed.add(Integer.parseInt(line.substring(OrderApplication.CONFIRMED.length())));
          continue;
        }
        if (line.equals("started")) {
          started.countDown();
        } else if (line.equals(StopPoint.WAITS)) {
          waits.countDown();
        }
        log.write(line + "\n");
        log.flush();
      }
    } catch (IOException e) {
      // It was killed.
    }
  }

  void awaitStarted() throws InterruptedException {
    await(started, "was not started");
  }

  /** It has come to the place where it waits. */
  void awaitStop() throws InterruptedException {
    await(waits, "did not come to its stop point");
  }

  private void await(CountDownLatch latch, String what) throws InterruptedException {
    for (long left = LIMIT_SECONDS; !latch.await(1, TimeUnit.SECONDS); left--) {
      if (left == 0 || !process.isAlive()) {
        throw new IllegalStateException("the application " + what + "; see " + output);
      }
    }
  }

  /** Whether a word is in its output. */
  boolean hasSaid(String word) throws IOException {
    return Files.readString(output).contains(word);
  }

  /** It goes on. */
  void goOn() throws IOException {
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
  }

  /** Waits until it has ended by itself, and with which exit code. */
  int awaitEnd() throws InterruptedException {
    if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the application did not end; see " + output);
    }
    return process.exitValue();
  }

  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }
}
