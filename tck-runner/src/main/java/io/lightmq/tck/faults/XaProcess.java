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

/** A process of {@link XaManager}: tells it what to do, and hears where it is. */
final class XaProcess implements AutoCloseable {
  private static final long LIMIT_SECONDS = 90;

  private final Process process;
  private final LinkedBlockingQueue<String> said = new LinkedBlockingQueue<>();
  private final List<String> codes = new ArrayList<>();

  private XaProcess(Process process) {
    this.process = process;
    Thread reader = new Thread(this::read, "xa-manager-says");
    reader.setDaemon(true);
    reader.start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "kill-manager"));
  }

  static XaProcess start(Path log, List<String> arguments)
      throws IOException, InterruptedException, HarnessException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dlogback.configurationFile="
                    + System.getProperty("logback.configurationFile", ""),
                "-cp",
                System.getProperty("java.class.path"),
                XaManager.class.getName()));
    command.addAll(arguments);
    XaProcess started =
        new XaProcess(
            new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start());
    started.await(XaManager.READY);
    return started;
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

  /** Waits until it says something that begins so; the rest of that line. */
  String await(String beginning) throws InterruptedException, HarnessException {
    long limitNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (true) {
      String line = said.poll(100, TimeUnit.MILLISECONDS);
      if (line != null && line.startsWith(beginning)) {
        return line.substring(beginning.length());
      }
      if (line != null && line.startsWith(XaManager.CODE)) {
        codes.add(line.substring(XaManager.CODE.length()));
      } else if (line != null) {
        throw new HarnessException("waited for '" + beginning + "', the manager says: " + line);
      }
      if (line == null && !process.isAlive() && said.isEmpty()) {
        throw new HarnessException(
            "the manager ended with %d when '%s' was waited for; codes %s"
                .formatted(process.exitValue(), beginning, codes));
      }
      if (System.nanoTime() - limitNanos > 0) {
        throw new HarnessException(
            "the manager does not say '%s' within %d s; codes %s"
                .formatted(beginning, LIMIT_SECONDS, codes));
      }
    }
  }

  /** Lets it go on from each step to that one. */
  void goTo(XaManager.Step step) throws IOException, InterruptedException, HarnessException {
    String at = await(XaManager.AT);
    while (!at.equals(step.toString())) {
      tell(XaManager.GO);
      at = await(XaManager.AT);
    }
  }

  /** Lets it go on to the end of the transaction; what became of it. */
  String goToEnd() throws IOException, InterruptedException, HarnessException {
    tell(XaManager.GO);
    return untilEnd();
  }

  /** It goes on already; stops it nowhere. */
  String untilEnd() throws IOException, InterruptedException, HarnessException {
    while (true) {
      String line = await("");
      if (line.startsWith(XaManager.DONE)) {
        return line.substring(XaManager.DONE.length());
      }
      if (line.startsWith(XaManager.CODE)) {
        codes.add(line.substring(XaManager.CODE.length()));
      } else {
        tell(XaManager.GO);
      }
    }
  }

  /** The codes that calls of its resources have ended with, as {@code prepare broker NAME text}. */
  List<String> takeCodes() {
    String line = said.peek();
    while (line != null && line.startsWith(XaManager.CODE)) {
      codes.add(line.substring(XaManager.CODE.length()));
      said.remove(line);
      line = said.peek();
    }
    List<String> taken = List.copyOf(codes);
    codes.clear();
    return taken;
  }

  /** Ends it with SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  /** The exit code, if it has ended. */
  @Nullable Integer exitCode() {
    return process.isAlive() ? null : process.exitValue();
  }

  @Override
  public void close() throws InterruptedException {
    kill();
  }
}
