package io.lightmq.samples.frameworks.orders;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.XADataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.postgresql.xa.PGXADataSource;

/** A database server in processes of its own, with its data in a folder of the run. */
abstract class Database implements AutoCloseable {
  private static final int STARTS = 30;
  private static final long PAUSE_MILLIS = 500;
  private static final long END_SECONDS = 30;

  /** Starts the server on its data, which it makes if there are none. */
  abstract void start() throws IOException, InterruptedException;

  /** Ends it with SIGKILL. */
  abstract void kill() throws IOException, InterruptedException;

  /** Where it is, as {@link #of} understands it in another process. */
  abstract String url();

  XADataSource source() {
    return of(url());
  }

  /** The way to a server. */
  static XADataSource of(String url) {
    if (url.startsWith("jdbc:h2:")) {
      JdbcDataSource source = new JdbcDataSource();
      source.setURL(url);
      source.setUser("sa");
      return source;
    }
    PGXADataSource source = new PGXADataSource();
    source.setURL(url);
    source.setUser("postgres");
    return source;
  }

  /** Makes a database of that name; empty if its server is not installed. */
  static Optional<Database> named(String name, Path folder, int port) throws IOException {
    if (name.equals("h2")) {
      return Optional.of(new H2(folder, port));
    }
    if (!name.equals("postgresql")) {
      throw new IllegalArgumentException("the database is h2 or postgresql, not " + name);
    }
    Path versions = Path.of("/usr/lib/postgresql");
    if (!Files.isDirectory(versions)) {
      return Optional.empty();
    }
    try (Stream<Path> installed = Files.list(versions)) {
      return installed
          .map(version -> version.resolve("bin"))
          .filter(bin -> Files.isExecutable(bin.resolve("initdb")))
          .max(Path::compareTo)
          .map(bin -> new Postgresql(bin, folder, port));
    }
  }

  static void awaitEnd(ProcessHandle process) throws InterruptedException {
    try {
      process.onExit().get(END_SECONDS, TimeUnit.SECONDS);
    } catch (java.util.concurrent.ExecutionException | java.util.concurrent.TimeoutException e) {
      throw new IllegalStateException("process " + process.pid() + " survived SIGKILL", e);
    }
  }

  /** H2's server. Its commits are written at once, since a kill would lose them else. */
  private static final class H2 extends Database {
    private final Path folder;
    private final int port;
    private Process process;

    H2(Path folder, int port) {
      this.folder = folder;
      this.port = port;
    }

    @Override
    void start() throws IOException, InterruptedException {
      Files.createDirectories(folder);
      process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-cp",
                  System.getProperty("java.class.path"),
                  "org.h2.tools.Server",
                  "-tcp",
                  "-tcpPort",
                  String.valueOf(port),
                  "-ifNotExists",
                  "-baseDir",
                  folder.toString())
              .redirectErrorStream(true)
              .redirectOutput(
                  ProcessBuilder.Redirect.appendTo(folder.resolve("server.log").toFile()))
              .start();
      Process started = process;
      Runtime.getRuntime().addShutdownHook(new Thread(started::destroyForcibly, "kill-h2"));
      awaitReady();
    }

    @Override
    void kill() throws InterruptedException {
      process.destroyForcibly();
      awaitEnd(process.toHandle());
    }

    @Override
    String url() {
      return "jdbc:h2:tcp://127.0.0.1:" + port + "/./orders;WRITE_DELAY=0";
    }

    @Override
    public void close() throws InterruptedException {
      if (process != null) {
        kill();
      }
    }
  }

  /** PostgreSQL's, as the user postgres if this is root, which it refuses. */
  private static final class Postgresql extends Database {
    private static final List<String> AS_POSTGRES = List.of("runuser", "-u", "postgres", "--");

    private final Path bin;
    private final Path folder;
    private final int port;
    private final boolean root = System.getProperty("user.name").equals("root");
    private boolean hooked;

    Postgresql(Path bin, Path folder, int port) {
      this.bin = bin;
      this.folder = folder;
      this.port = port;
    }

    @Override
    void start() throws IOException, InterruptedException {
      if (!Files.exists(folder)) {
        Files.createDirectories(folder);
        if (root) {
          run(List.of("chown", "postgres", folder.toString()));
        }
        asUser("initdb", "-D", data(), "-A", "trust", "-U", "postgres", "-E", "UTF8", "-N");
      }
      String options =
          "-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories=%s -c fsync=off"
                  .formatted(port, folder)
              + " -c max_prepared_transactions=64 -c max_connections=64";
      // The processes of one that was killed end a moment later and keep the data until then.
      for (int left = STARTS; ; left--) {
        try {
          asUser(
              "pg_ctl",
              "-D",
              data(),
              "-o",
              options,
              "-l",
              folder.resolve("server.log").toString(),
              "-w",
              "start");
          break;
        } catch (IOException e) {
          if (left == 0) {
            throw e;
          }
          Thread.sleep(PAUSE_MILLIS);
        }
      }
      if (!hooked) {
        hooked = true;
        Runtime.getRuntime().addShutdownHook(new Thread(this::killQuietly, "kill-postgresql"));
      }
      awaitReady();
    }

    private String data() {
      return folder.resolve("data").toString();
    }

    private void asUser(String program, String... arguments)
        throws IOException, InterruptedException {
      List<String> command = new java.util.ArrayList<>(root ? AS_POSTGRES : List.of());
      command.add(bin.resolve(program).toString());
      command.addAll(List.of(arguments));
      run(command);
    }

    private void run(List<String> command) throws IOException, InterruptedException {
      Path log = folder.resolveSibling("postgresql-commands.log");
      int code =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start()
              .waitFor();
      if (code != 0) {
        throw new IOException(command + " ended with " + code + "; see " + log);
      }
    }

    @Override
    void kill() throws IOException, InterruptedException {
      Path pid = Path.of(data(), "postmaster.pid");
      if (Files.exists(pid)) {
        Optional<ProcessHandle> server =
            ProcessHandle.of(Long.parseLong(Files.readAllLines(pid).get(0).trim()));
        if (server.isPresent()) {
          server.get().destroyForcibly();
          while (server.get().isAlive()) {
            Thread.sleep(PAUSE_MILLIS / 10);
          }
        }
      }
    }

    private void killQuietly() {
      try {
        kill();
      } catch (IOException | InterruptedException e) {
        System.err.println("PostgreSQL was not stopped: " + e);
      }
    }

    @Override
    String url() {
      return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?connectTimeout=10&socketTimeout=60";
    }

    @Override
    public void close() throws IOException, InterruptedException {
      kill();
    }
  }

  /** Waits until it takes connections. */
  void awaitReady() throws InterruptedException, IOException {
    for (int left = STARTS * 4; ; left--) {
      try {
        javax.sql.XAConnection connection = source().getXAConnection();
        connection.close();
        return;
      } catch (java.sql.SQLException e) {
        if (left == 0) {
          throw new IOException("no database answers at " + url(), e);
        }
        Thread.sleep(PAUSE_MILLIS / 2);
      }
    }
  }
}
