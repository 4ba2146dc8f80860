package io.lightmq.tck.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A client in a Java process of its own, which is told what to do, line by line, and answers so.
 */
final class TalkingProcess implements AutoCloseable {
  private final Process process;
  private final LinkedBlockingQueue<String> said = new LinkedBlockingQueue<>();

  private TalkingProcess(Process process) {
    this.process = process;
    Thread reader = new Thread(this::read, "process-says");
    reader.setDaemon(true);
    reader.start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "kill-process"));
  }

  /**
   * Starts one.
   *
   * @param errors the file that gets its standard error
   * @param options of its Java machine
   */
  static TalkingProcess start(
      Path errors, Class<?> main, List<String> options, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.add(
        "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile", ""));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(arguments);
    return new TalkingProcess(
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()))
            .start());
  }

  private void read() {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        said.add(line);
      }
    } catch (IOException e) {
      // It has ended.
    }
  }

  void tell(String line) throws IOException {
    OutputStream out = process.getOutputStream();
    out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  /** Waits for its next line. */
  String next(long limitSeconds) throws InterruptedException, HarnessException {
    long limitNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(limitSeconds);
    while (true) {
      boolean ended = !process.isAlive();
      String line = said.poll(100, TimeUnit.MILLISECONDS);
      if (line != null) {
        return line;
      }
      if (ended) {
        throw new HarnessException("the client process ended with " + process.exitValue());
      }
      if (System.nanoTime() - limitNanos > 0) {
        throw new HarnessException("the client process says nothing for " + limitSeconds + " s");
      }
    }
  }

  /** Its next line, if it has said one; stays where it is. */
  @Nullable String peek() {
    return said.peek();
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Ends it with SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  @Override
  public void close() throws InterruptedException {
    kill();
  }
}
