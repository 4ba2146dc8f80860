package io.lightmq.server;

import io.lightmq.core.storage.FileFaults;
import io.lightmq.server.config.ConfigException;
import io.lightmq.server.config.ServerConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code lightmq run}: a broker until SIGTERM. */
@Command(
    name = "run",
    description = "Runs a broker until it is told to stop.",
    mixinStandardHelpOptions = true)
@SuppressWarnings("FutureReturnValueIgnored") // the latch tells
final class RunCommand implements Callable<Integer> {
  static final int CONFIG_WRONG = 2;
  static final int CANNOT_START = 3;
  static final int FAILED = 70;

  private static final Logger log = LoggerFactory.getLogger(RunCommand.class);

  @Spec CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "configuration (TOML); default: conf/lightmq.toml of the server's folder, if it exists")
  @Nullable Path config;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "data directory, instead of the configuration's")
  @Nullable Path data;

  @Option(
      names = "--new-users",
      description =
          "if the file of users is missing in a data directory that has been used before, begin"
              + " with a new user admin instead of refusing to start")
  boolean newUsers;

  @Override
  public Integer call() {
    Hangup.ignore(() -> {});
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    ServerConfig settings;
    try {
      settings = settings();
    } catch (ConfigException e) {
      err.println(e.getMessage());
      return CONFIG_WRONG;
    }
    Server server;
    try {
      server =
          Server.start(
              settings,
              newUsers,
              password -> {
                out.println("Created the user admin with the password: " + password);
                out.flush();
              });
    } catch (IOException e) {
      log.debug("The broker cannot start", e);
      Path directory = settings.dataDirectory();
      err.println(
          "The broker cannot start: "
              + (Files.isDirectory(directory)
                  ? ""
                  : "cannot create the data directory " + directory + ": ")
              + FileFaults.text(e));
      return CANNOT_START;
    }
    out.println(server.readyLine());
    out.flush();
    return await(server);
  }

  private ServerConfig settings() throws ConfigException {
    long heap = Runtime.getRuntime().maxMemory();
    Path file = config == null ? configOfHome() : config;
    log.info("Configuration: {}", file == null ? "all defaults" : file.toAbsolutePath());
    Path directory = data;
    if (directory != null && Files.exists(directory) && !Files.isDirectory(directory)) {
      throw new ConfigException("--data " + directory + " is a file, a directory is needed");
    }
    ServerConfig read = file == null ? ServerConfig.defaults(heap) : ServerConfig.read(file, heap);
    return directory == null ? read : read.withDataDirectory(directory);
  }

  /** The configuration in the folder that {@code bin/lightmq} belongs to, if there is one. */
  private static @Nullable Path configOfHome() {
    String home = System.getProperty("lightmq.home");
    Path file = home == null ? null : Path.of(home, "conf", "lightmq.toml");
    return file != null && Files.exists(file) ? file : null;
  }

  private static int await(Server server) {
    CountDownLatch ended = new CountDownLatch(1);
    CompletableFuture<Throwable> failure = server.failure();
    failure.thenRun(ended::countDown);
    server.whenStopIsAsked(ended::countDown);
    Thread hook = new Thread(() -> close(server), "shutdown");
    Runtime.getRuntime().addShutdownHook(hook);
    boolean waiting = true;
    while (waiting) {
      try {
        ended.await();
        waiting = false;
      } catch (InterruptedException e) {
        log.debug("Interrupted while waiting for the broker's end; it goes on", e);
      }
    }
    if (!failure.isDone()) {
      return 0; // the process ends with this, and so runs the hook
    }
    log.error("The broker has ended after a failure", failure.join());
    return FAILED;
  }

  private static void close(Server server) {
    try {
      server.close();
      log.info("The broker has stopped");
    } catch (IOException | RuntimeException e) {
      log.error("The broker did not stop cleanly; it recovers when it starts again", e);
    }
  }
}
