package io.lightmq.server.config;

import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.BrokerSettings.DestinationDefaults;
import io.lightmq.core.door.BrokerSettings.DestinationRule;
import io.lightmq.core.door.BrokerSettings.DiskRoom;
import io.lightmq.core.door.BrokerSettings.Intervals;
import io.lightmq.core.door.BrokerSettings.Limits;
import io.lightmq.core.door.BrokerSettings.Memory;
import io.lightmq.core.storage.journal.JournalSettings;
import io.lightmq.core.storage.segment.SegmentSettings;
import io.lightmq.node.NodeSettings;
import io.lightmq.node.connection.ConnectionSettings;
import io.lightmq.node.connection.ConnectionSettings.Counts;
import io.lightmq.node.connection.ConnectionSettings.Patience;
import io.lightmq.node.connection.ConnectionSettings.Sizes;
import io.lightmq.server.http.HttpSettings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a broker process is told: by its configuration file, else by defaults that fit its heap.
 *
 * @param dataDirectory where everything durable lives
 * @param listeners where clients connect
 * @param http the admin port, or null for none
 * @param httpHosts names besides its own under which the admin port may be asked
 * @param shownDestinations how many destinations the metrics show one by one
 * @param anonymous whether connections from this machine need no user; never with a listener that
 *     others can reach
 */
public record ServerConfig(
    Path dataDirectory,
    List<InetSocketAddress> listeners,
    @Nullable InetSocketAddress http,
    List<String> httpHosts,
    int shownDestinations,
    boolean anonymous,
    NodeSettings node) {
  private static final long MIB = 1L << 20;
  private static final int MAX_PORT = 65_535;
  private static final int DEFAULT_PORT = 7_654;
  private static final int DEFAULT_HTTP_PORT = 7_655;

  public ServerConfig {
    listeners = List.copyOf(listeners);
    httpHosts = List.copyOf(httpHosts);
  }

  /** Reads a configuration file. */
  public static ServerConfig read(Path file, long heapBytes) throws ConfigException {
    return read(ConfigReader.of(file), heapBytes);
  }

  /** All defaults. */
  public static ServerConfig defaults(long heapBytes) throws ConfigException {
    return read(ConfigReader.of("the defaults", ""), heapBytes);
  }

  /** The same with its data elsewhere. */
  public ServerConfig withDataDirectory(Path directory) {
    return new ServerConfig(
        directory, listeners, http, httpHosts, shownDestinations, anonymous, node);
  }

  /** The limits of the admin port. */
  public HttpSettings httpSettings() {
    return HttpSettings.defaults(httpHosts);
  }

  /** The keys that set an address of a listener or of the admin port. */
  public String keysOf(SocketAddress address) {
    if (address.equals(http)) {
      return "http.host and http.port (or switch it off: http.enabled)";
    }
    return address.equals(listeners.get(0))
        ? "listener.host and listener.port"
        : "listener.further";
  }

  static ServerConfig read(ConfigReader from, long heapBytes) throws ConfigException {
    Path data = Path.of(from.text("data.directory", "data"));
    List<InetSocketAddress> listeners = listeners(from);
    boolean httpOn = from.flag("http.enabled", true);
    InetSocketAddress http =
        address(
            from,
            "http.host",
            from.text("http.host", "127.0.0.1"),
            from.number("http.port", DEFAULT_HTTP_PORT, 0, MAX_PORT));
    List<String> hosts = new ArrayList<>(from.texts("http.hosts"));
    hosts.add(from.text("http.host", "127.0.0.1"));
    int shown = from.number("metrics.destinations", 1_000, 1, 100_000);
    boolean anonymous = from.flag("security.anonymous", true);
    boolean local = listeners.stream().allMatch(ServerConfig::isLoopback);
    NodeSettings node = node(from, heapBytes);
    from.checkAllKnown();
    return new ServerConfig(
        data, listeners, httpOn ? http : null, hosts, shown, anonymous && local, node);
  }

  private static boolean isLoopback(InetSocketAddress address) {
    return address.getAddress().isLoopbackAddress();
  }

  private static List<InetSocketAddress> listeners(ConfigReader from) throws ConfigException {
    List<InetSocketAddress> listeners = new ArrayList<>();
    listeners.add(
        address(
            from,
            "listener.host",
            from.text("listener.host", "127.0.0.1"),
            from.number("listener.port", DEFAULT_PORT, 0, MAX_PORT)));
    for (String further : from.texts("listener.further")) {
      int colon = further.lastIndexOf(':');
      int port = -1;
      try {
        port = Integer.parseInt(further.substring(colon + 1));
      } catch (NumberFormatException e) {
        colon = -1;
      }
      if (colon <= 0 || port < 0 || port > MAX_PORT) {
        throw from.wrong("listener.further", "has \"" + further + "\", which is not \"host:port\"");
      }
      String host = further.substring(0, colon).replace("[", "").replace("]", "");
      listeners.add(address(from, "listener.further", host, port));
    }
    return listeners;
  }

  private static InetSocketAddress address(ConfigReader from, String key, String host, int port)
      throws ConfigException {
    try {
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (UnknownHostException e) {
      throw from.wrong(key, "names the unknown host \"" + host + "\"");
    }
  }

  private static NodeSettings node(ConfigReader from, long heapBytes) throws ConfigException {
    ConnectionSettings connections = connections(from);
    BrokerSettings broker = broker(from, connections, heapBytes);
    long credit =
        from.longBytes("memory.publish-credit", share(heapBytes, 8, 16, 128), MIB, 1L << 40);
    long first = from.longBytes("memory.first-credit", MIB, 4 << 10, 1L << 40);
    long most = from.longBytes("memory.max-credit", 64 * MIB, 4 << 10, 1L << 40);
    long deliveries =
        from.longBytes("memory.deliveries", share(heapBytes, 8, 16, 64), MIB, 1L << 40);
    try {
      return new NodeSettings(broker, connections, credit, first, most, deliveries);
    } catch (IllegalArgumentException e) {
      throw from.wrong("memory", "does not fit: " + e.getMessage());
    }
  }

  /** A part of the heap, within limits in MiB. */
  private static long share(long heapBytes, int part, int leastMib, int mostMib) {
    return Math.min(mostMib * MIB, Math.max(leastMib * MIB, heapBytes / part));
  }

  private static ConnectionSettings connections(ConfigReader from) throws ConfigException {
    Counts counts = Counts.defaults();
    Sizes sizes = Sizes.defaults();
    Patience patience = Patience.defaults();
    return new ConnectionSettings(
        new Counts(
            from.number("limits.connections", counts.connections(), 1, 1_000_000),
            from.number("limits.sessions", counts.sessions(), 1, 1_000_000),
            from.number("limits.consumers", counts.consumers(), 1, 1_000_000),
            from.number("limits.producers", counts.producers(), 1, 1_000_000),
            from.number("limits.open-requests", counts.openRequests(), 16, 1_000_000)),
        new Sizes(
            from.bytes(
                "limits.message", sizes.maxMessageBytes(), 64, BrokerSettings.MAX_MESSAGE_BYTES),
            from.bytes("limits.transaction", sizes.maxTransactionBytes(), 1, 64 << 20),
            from.bytes("limits.delivery", sizes.maxDeliveryBytes(), 1 << 10, 16 << 20),
            from.bytes("limits.outbound", sizes.outboundBytes(), 1 << 10, 64 << 20)),
        new Patience(
            from.number("limits.handshake-millis", patience.handshakeMillis(), 1, 600_000),
            from.number("limits.heartbeat-millis", patience.heartbeatMillis(), 30, 600_000),
            from.number("limits.stall-millis", patience.stallMillis(), 10, 600_000)));
  }

  private static BrokerSettings broker(
      ConfigReader from, ConnectionSettings connections, long heapBytes) throws ConfigException {
    try {
      DestinationDefaults destinations = destinations(from);
      Memory memory = memory(from, heapBytes);
      JournalSettings journal = journal(from, JournalSettings.defaults());
      SegmentSettings segments = segments(from, SegmentSettings.DEFAULT, heapBytes);
      Limits limits = limits(from, connections.sizes(), memory, journal);
      return new BrokerSettings(
          destinations, memory, disk(from), limits, intervals(from), journal, segments);
    } catch (IllegalArgumentException e) {
      throw from.wrong("memory.window", "does not fit: " + e.getMessage());
    }
  }

  private static DestinationDefaults destinations(ConfigReader from) throws ConfigException {
    DestinationDefaults otherwise = DestinationDefaults.defaults();
    DestinationSettings settings = from.settings(List.of("destinations"), otherwise.settings());
    boolean create = from.flag("destinations.create-on-first-use", otherwise.createOnFirstUse());
    List<DestinationRule> rules = new ArrayList<>();
    for (String pattern : from.tablesIn("destination")) {
      rules.add(
          new DestinationRule(pattern, from.settings(List.of("destination", pattern), settings)));
    }
    return new DestinationDefaults(settings, create, rules);
  }

  private static Memory memory(ConfigReader from, long heapBytes) throws ConfigException {
    long window = heapBytes < 96 * MIB ? 16 * MIB : 64 * MIB;
    return new Memory(
        from.bytes("memory.window", window, MIB, 1 << 30),
        from.longBytes("memory.non-persistent", share(heapBytes, 8, 16, 64), MIB, 1L << 40),
        from.longBytes("memory.named-state", BrokerSettings.namedBytes(heapBytes), MIB, 1L << 40));
  }

  private static DiskRoom disk(ConfigReader from) throws ConfigException {
    DiskRoom otherwise = DiskRoom.defaults();
    return new DiskRoom(
        from.longBytes("data.ballast", otherwise.ballastBytes(), 0, 1L << 40),
        from.longBytes("data.min-free", otherwise.minFreeBytes(), 0, 1L << 50),
        from.longBytes("data.overflow", otherwise.overflowBytes(), 0, 1L << 50));
  }

  private static Limits limits(
      ConfigReader from, Sizes sizes, Memory memory, JournalSettings journal)
      throws ConfigException {
    int longest = BrokerSettings.longestMessage(memory.windowBytes(), journal);
    if (sizes.maxMessageBytes() > longest) {
      throw from.wrong(
          "limits.message",
          ("is %d, but with memory.window %d and flush.bytes %d the longest message is %d: raise"
                  + " memory.window or flush.bytes, or lower limits.message")
              .formatted(
                  sizes.maxMessageBytes(),
                  memory.windowBytes(),
                  journal.maxUnforcedBytes(),
                  longest));
    }
    return new Limits(
        sizes.maxMessageBytes(),
        sizes.maxTransactionBytes(),
        from.longBytes(
            "limits.staged-transaction", Limits.defaults().maxStagedBytes(), MIB, 1L << 40));
  }

  private static Intervals intervals(ConfigReader from) throws ConfigException {
    Intervals otherwise = Intervals.defaults();
    return new Intervals(
        from.number("flush.interval-millis", otherwise.flushIntervalMillis(), 1, 60_000),
        from.number("segments.idle-reclaim-millis", otherwise.idleReclaimMillis(), 0, 86_400_000),
        from.number(
            "limits.temporary-grace-millis", otherwise.temporaryGraceMillis(), 0, 86_400_000));
  }

  private static JournalSettings journal(ConfigReader from, JournalSettings otherwise)
      throws ConfigException {
    int file = from.bytes("journal.file", otherwise.fileBytes(), 64 << 10, 1 << 30);
    int least = from.number("journal.min-files", otherwise.minFiles(), 2, 1_000);
    int most = from.number("journal.max-files", otherwise.maxFiles(), 2, 1_000);
    int linger =
        from.number("journal.linger-micros", (int) (otherwise.lingerNanos() / 1_000), 0, 10_000);
    int unforced =
        from.bytes(
            "flush.bytes", Math.min(otherwise.maxUnforcedBytes(), file / 5 * 4), 4 << 10, 1 << 30);
    try {
      return new JournalSettings(
          file, least, most, linger * 1_000L, unforced, otherwise.idleNanos());
    } catch (IllegalArgumentException e) {
      throw from.wrong("journal", "does not fit: " + e.getMessage());
    }
  }

  private static SegmentSettings segments(
      ConfigReader from, SegmentSettings otherwise, long heapBytes) throws ConfigException {
    return new SegmentSettings(
        from.longBytes("segments.size", otherwise.maxSegmentBytes(), MIB, 1L << 30),
        from.longBytes("segments.dedicated", otherwise.dedicatedBytes(), 64 << 10, 1L << 30),
        otherwise.writeBufferBytes(),
        otherwise.readAheadBytes(),
        from.longBytes("memory.index-cache", share(heapBytes, 64, 2, 8), 64 << 10, 1L << 40),
        from.number("segments.open-files", otherwise.maxOpenFiles(), 1, 100_000),
        otherwise.maxIndexBytes(),
        otherwise.maxEntryBytes());
  }

  /** Every key that a configuration may have, but for those in destination rules. */
  static Set<String> keys() throws ConfigException {
    ConfigReader reader = ConfigReader.of("the defaults", "");
    read(reader, 1L << 30);
    return Set.copyOf(reader.known());
  }
}
