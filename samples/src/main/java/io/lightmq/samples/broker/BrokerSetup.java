package io.lightmq.samples.broker;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a broker process is started with.
 *
 * @param home the unpacked server: the directory with {@code bin/lightmq}
 * @param work directory for configuration and log, never one that a test takes away
 * @param data the broker's data directory
 * @param port the port of the messaging protocol, on 127.0.0.1
 * @param adminPort the port of {@code /healthz} and {@code /metrics}, on 127.0.0.1
 * @param javaOptions options of the broker's Java machine, such as {@code -Xmx128m}
 * @param configuration more lines for the configuration file; those before its first section belong
 *     to the listener
 */
public record BrokerSetup(
    Path home,
    Path work,
    Path data,
    int port,
    int adminPort,
    List<String> javaOptions,
    String configuration) {

  public BrokerSetup {
    javaOptions = List.copyOf(javaOptions);
    if (!Files.isExecutable(home.resolve("bin/lightmq"))) {
      throw new IllegalArgumentException(
          "no executable bin/lightmq in " + home + "; build the server first");
    }
  }

  /** A broker with defaults on two free ports, with its data in {@code work/data}. */
  public static BrokerSetup in(Path work) throws IOException {
    return new BrokerSetup(
        findHome(), work, work.resolve("data"), freePort(), freePort(), List.of(), "");
  }

  /** The same broker with its data elsewhere. */
  public BrokerSetup withData(Path otherData) {
    return new BrokerSetup(home, work, otherData, port, adminPort, javaOptions, configuration);
  }

  /** A broker of another build, otherwise the same. */
  public BrokerSetup withHome(Path otherHome) {
    return new BrokerSetup(
        otherHome.toAbsolutePath(), work, data, port, adminPort, javaOptions, configuration);
  }

  /** The same broker with other options for its Java machine. */
  public BrokerSetup withJavaOptions(String... options) {
    return new BrokerSetup(home, work, data, port, adminPort, List.of(options), configuration);
  }

  /** The same broker with more lines in its configuration file. */
  public BrokerSetup withConfiguration(String lines) {
    return new BrokerSetup(home, work, data, port, adminPort, javaOptions, lines);
  }

  /** The URI for clients, with further options such as {@code "prefetchMessages=1"}. */
  public String uri(String... options) {
    String query = options.length == 0 ? "" : "?" + String.join("&", options);
    return "lightmq://127.0.0.1:" + port + query;
  }

  /** The file that gets the broker's output. */
  public Path log() {
    return work.resolve("broker.log");
  }

  Path configurationFile() {
    return work.resolve("lightmq.toml");
  }

  String toml() {
    return """
    [http]
    host = "127.0.0.1"
    port = %d

    [listener]
    host = "127.0.0.1"
    port = %d
    %s
    """
        .formatted(adminPort, port, configuration);
  }

  /** The server named by the system property lightmq.home, else the one this checkout has built. */
  private static Path findHome() throws IOException {
    String named = System.getProperty("lightmq.home", "");
    if (!named.isEmpty()) {
      return Path.of(named).toAbsolutePath();
    }
    Path target = Path.of("server/app/target");
    if (Files.isDirectory(target)) {
      try (Stream<Path> entries = Files.list(target)) {
        List<Path> built =
            entries.filter(entry -> Files.isExecutable(entry.resolve("bin/lightmq"))).toList();
        if (built.size() == 1) {
          return built.get(0).toAbsolutePath();
        }
      }
    }
    throw new IOException(
        "no single server with bin/lightmq under "
            + target.toAbsolutePath()
            + "; build it or name it with -Dlightmq.home=DIRECTORY");
  }

  /** A port that nobody listens on at the moment. */
  public static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
