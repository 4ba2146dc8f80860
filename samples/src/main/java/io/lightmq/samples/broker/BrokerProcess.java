package io.lightmq.samples.broker;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One run of a broker in a process of its own, from its readiness line to its end.
 *
 * <p>Its output is appended to the setup's log file, so that it survives the process.
 */
public final class BrokerProcess implements AutoCloseable {

  private static final String READY = "LightMQ ready on";
  private static final Pattern PASSWORD = Pattern.compile("user admin with the password: (\\S+)");
  private static final long START_LIMIT_SECONDS = 180;
  private static final long STOP_LIMIT_SECONDS = 30;
  private static final long LOOK_MILLIS = 10;
  private static final int TAIL_LINES = 40;
  private static final int MAX_OUTPUT_BYTES = 8 << 20;

  private final BrokerSetup setup;
  private final Process process;
  private final long startMillis;

  private BrokerProcess(BrokerSetup setup, Process process, long startMillis) {
    this.setup = setup;
    this.process = process;
    this.startMillis = startMillis;
  }

  /** Starts a broker and returns when it has said that it is ready. */
  public static BrokerProcess start(BrokerSetup setup) throws IOException, InterruptedException {
    Files.createDirectories(setup.work());
    Files.createDirectories(setup.data());
    Files.writeString(setup.configurationFile(), setup.toml());
    Path log = setup.log();
    long before = Files.exists(log) ? Files.size(log) : 0;
    ProcessBuilder builder =
        new ProcessBuilder(
                setup.home().resolve("bin/lightmq").toString(),
                "run",
                "--config",
                setup.configurationFile().toString(),
                "--data",
                setup.data().toString())
            .redirectErrorStream(true)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().put("JAVA_OPTS", String.join(" ", setup.javaOptions()));
    long began = System.nanoTime();
    Process process = builder.start();
    // Whoever interrupts the harness does not want to look for its brokers.
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> killTree(process.toHandle()), "kill-broker"));
    long deadline = began + TimeUnit.SECONDS.toNanos(START_LIMIT_SECONDS);
    while (!outputSince(log, before).contains(READY)) {
      boolean ended = process.waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      if (ended || System.nanoTime() > deadline) {
        String why =
            ended
                ? "the broker ended with exit code " + process.exitValue()
                : "the broker was not ready after " + START_LIMIT_SECONDS + " s";
        killTree(process.toHandle());
        throw new IOException(why + "; the end of " + log + ":\n" + tail(log));
      }
    }
    long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    return new BrokerProcess(setup, process, tookMillis);
  }

  /** What this broker was started with. */
  public BrokerSetup setup() {
    return setup;
  }

  /** The id of the process that runs the Java machine. */
  public long pid() {
    return javaProcess().pid();
  }

  /** Time from the start of the process to its readiness line. */
  public long startMillis() {
    return startMillis;
  }

  /** The password of the user admin, which a broker prints when it first starts on its data. */
  public String adminPassword() throws IOException {
    String output = outputSince(setup.log(), 0);
    Matcher matcher = PASSWORD.matcher(output);
    if (!matcher.find()) {
      throw new IOException("no admin password in " + setup.log());
    }
    return matcher.group(1);
  }

  /** Whether the process runs. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Ends the process with SIGKILL and waits until it is gone. */
  public void kill() throws InterruptedException {
    killTree(process.toHandle());
    if (!process.waitFor(STOP_LIMIT_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("process " + process.pid() + " survived SIGKILL");
    }
  }

  /** Asks the broker to stop with SIGTERM; kills it if it does not. */
  @Override
  public void close() {
    javaProcess().destroy();
    try {
      if (!process.waitFor(STOP_LIMIT_SECONDS, TimeUnit.SECONDS)) {
        System.err.println(
            "the broker did not stop within " + STOP_LIMIT_SECONDS + " s of SIGTERM, killing it");
        kill();
      }
    } catch (InterruptedException e) {
      killTree(process.toHandle());
      Thread.currentThread().interrupt();
    }
  }

  /** The last lines of the broker's output, for error reports. */
  public String tail() throws IOException {
    return tail(setup.log());
  }

  /** The start script normally becomes the Java machine; if it has not, that is its child. */
  private ProcessHandle javaProcess() {
    try (Stream<ProcessHandle> children = process.descendants()) {
      return children.reduce((first, second) -> second).orElse(process.toHandle());
    }
  }

  private static void killTree(ProcessHandle root) {
    List<ProcessHandle> all;
    try (Stream<ProcessHandle> children = root.descendants()) {
      all = children.toList();
    }
    all.forEach(ProcessHandle::destroyForcibly);
    root.destroyForcibly();
  }

  private static String outputSince(Path log, long offset) throws IOException {
    try (SeekableByteChannel channel = Files.newByteChannel(log)) {
      long bytes = Math.min(channel.size() - offset, MAX_OUTPUT_BYTES);
      ByteBuffer buffer = ByteBuffer.allocate((int) Math.max(0, bytes));
      channel.position(offset);
      while (buffer.hasRemaining() && channel.read(buffer) >= 0) {
        // A channel may give less than asked for.
      }
      return new String(buffer.array(), 0, buffer.position(), StandardCharsets.UTF_8);
    }
  }

  private static String tail(Path log) throws IOException {
    if (!Files.exists(log)) {
      return "(no output)";
    }
    long from = Math.max(0, Files.size(log) - (64 << 10));
    List<String> lines = outputSince(log, from).lines().toList();
    return String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
  }
}
