package io.lightmq.jndi;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.client.link.ClientUri;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * A broker's address as it stands in a naming file: one of our URIs, or one of another provider
 * where its meaning is plain. Taken over are host, port and known options of {@code tcp://}, {@code
 * ssl://}, {@code nio://} and {@code amqp(s)://}, lists of them in {@code failover:(…)} or in
 * parentheses, and {@code vm://name?broker.persistent=false}. Everything else is refused with our
 * forms. Messages hold neither options nor what stands before a host, since there may be passwords.
 *
 * @param uri our URI, without options for one of another provider
 * @param options the options of another provider's address under our names
 */
record BrokerUrl(String uri, Map<String, String> options) {
  private static final Set<String> PLAIN = Set.of("tcp", "nio", "auto", "auto+nio", "amqp");
  private static final Set<String> SECURE = Set.of("ssl", "nio+ssl", "auto+ssl", "amqps");
  private static final int MAX_CHARS = 65_536;

  /**
   * Reads an address.
   *
   * @param property where it stands, for messages and the log
   * @throws IllegalArgumentException if it is neither ours nor one whose meaning is plain
   */
  static BrokerUrl parse(String property, String text) {
    String trimmed = text.trim();
    if (trimmed.length() > MAX_CHARS) {
      throw new IllegalArgumentException(
          "the URL has " + trimmed.length() + " characters, the limit is " + MAX_CHARS);
    }
    if (isOurs(trimmed)) {
      return new BrokerUrl(trimmed, Map.of());
    }
    ForeignOptions options = new ForeignOptions();
    String location =
        startsWith(trimmed, "vm:") ? inMemory(trimmed, options) : remote(trimmed, options);
    String secured =
        options.tls() && location.startsWith("lightmq://")
            ? "lightmqs" + location.substring("lightmq".length())
            : location;
    BrokerUrl url = new BrokerUrl(secured, options.take(property));
    url.factory();
    return url;
  }

  private static boolean isOurs(String text) {
    return startsWith(text, "lightmq:") || startsWith(text, "lightmqs:");
  }

  /** Whether it begins like a URL or a list of them, so that it is no path of a file. */
  static boolean looksLikeOne(String text) {
    return text.startsWith("(") || text.matches("(?s)[A-Za-z][A-Za-z0-9+.-]+:.*");
  }

  /** A new factory for it. */
  LightmqConnectionFactory factory() {
    LightmqConnectionFactory factory = new LightmqConnectionFactory(uri);
    factory.setOptions(options);
    return factory;
  }

  // ---- in this process ----

  private static String inMemory(String text, ForeignOptions options) {
    int question = text.indexOf('?');
    String query = question < 0 ? "" : text.substring(question + 1);
    String name = (question < 0 ? text : text.substring(0, question)).substring(3);
    while (name.startsWith("/")) {
      name = name.substring(1);
    }
    List<String[]> given = name.matches("[A-Za-z0-9._-]+") ? options(query) : List.of();
    if (given.stream().noneMatch(BrokerUrl::isVolatile)) {
      throw new IllegalArgumentException(
          "a vm: URL does not say plainly whether messages are stored; write lightmq:mem:NAME for a"
              + " broker in memory or lightmq:file:DIRECTORY for one with a store");
    }
    for (String[] option : given) {
      if (!isVolatile(option)) {
        options.add(option[0], option[1]);
      }
    }
    return "lightmq:mem:" + name;
  }

  private static boolean isVolatile(String[] option) {
    return option[0].equalsIgnoreCase("broker.persistent") && option[1].equalsIgnoreCase("false");
  }

  // ---- over the network ----

  private static String remote(String text, ForeignOptions options) {
    String rest = text;
    boolean list = false;
    for (String word : List.of("failover:", "static:")) {
      if (startsWith(rest, word)) {
        list = true;
        rest = rest.substring(word.length());
        rest = rest.startsWith("//") ? rest.substring(2) : rest;
      }
    }
    if (rest.startsWith("(")) {
      int close = rest.lastIndexOf(')');
      String after = close < 0 ? "x" : rest.substring(close + 1);
      if (!after.isEmpty() && !after.startsWith("?")) {
        throw refused(text);
      }
      list = true;
      add(options, after);
      rest = rest.substring(1, close);
    }
    List<String> hosts = new ArrayList<>();
    List<Boolean> secure = new ArrayList<>();
    for (String part : list ? parts(rest) : List.of(rest)) {
      int question = part.indexOf('?');
      add(options, question < 0 ? "" : part.substring(question));
      hosts(text, question < 0 ? part : part.substring(0, question), hosts, secure);
    }
    if (hosts.isEmpty() || secure.stream().distinct().count() > 1) {
      throw refused(text);
    }
    return (secure.get(0) ? "lightmqs://" : "lightmq://") + String.join(",", hosts);
  }

  /** Splits at commas, but not within the options of one part. */
  private static List<String> parts(String list) {
    List<String> parts = new ArrayList<>();
    for (String piece : list.split(",", -1)) {
      int last = parts.size() - 1;
      if (last >= 0 && parts.get(last).contains("?") && !piece.contains("://")) {
        parts.set(last, parts.get(last) + "," + piece);
      } else {
        parts.add(piece.trim());
      }
    }
    return parts;
  }

  /** One part may be several hosts: {@code tcp://a:1,b:2}. */
  private static void hosts(String all, String part, List<String> hosts, List<Boolean> secure) {
    for (String piece : part.split(",", -1)) {
      String host = piece.trim();
      int slashes = host.indexOf("://");
      if (slashes >= 0) {
        String scheme = host.substring(0, slashes).toLowerCase(Locale.ROOT);
        if (!PLAIN.contains(scheme) && !SECURE.contains(scheme)) {
          throw refused(all);
        }
        secure.add(SECURE.contains(scheme));
        host = host.substring(slashes + 3);
      } else if (secure.isEmpty()) {
        throw refused(all);
      }
      if (host.indexOf('@') >= 0) {
        throw new IllegalArgumentException(
            "the URL has a user or password before its host, where they do not belong; use"
                + " ?user=…&password=…");
      }
      host = host.endsWith("/") ? host.substring(0, host.length() - 1) : host;
      if (host.isEmpty() || host.indexOf('/') >= 0 || host.indexOf('(') >= 0) {
        throw refused(all);
      }
      hosts.add(ClientUri.parse("lightmq://" + host).hosts().get(0).toString());
    }
  }

  private static void add(ForeignOptions options, String query) {
    for (String[] option : options(query.startsWith("?") ? query.substring(1) : query)) {
      options.add(option[0], option[1]);
    }
  }

  private static List<String[]> options(String query) {
    List<String[]> options = new ArrayList<>();
    for (String pair : query.split("[&;]", -1)) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        options.add(new String[] {pair.substring(0, equals), decode(pair.substring(equals + 1))});
      } else if (!pair.isEmpty()) {
        throw new IllegalArgumentException("an option of the URL has no '=value'");
      }
    }
    return options;
  }

  private static String decode(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static boolean startsWith(String text, String word) {
    return text.regionMatches(true, 0, word, 0, word.length());
  }

  private static IllegalArgumentException refused(String text) {
    int colon = text.indexOf(':');
    return new IllegalArgumentException(
        "a URL that begins with '"
            + (colon < 0 ? "(" : text.substring(0, Math.min(colon + 1, 32)))
            + "' cannot be taken over; write lightmq://host:7654,host2:7654, lightmq:mem:NAME or"
            + " lightmq:file:DIRECTORY");
  }

  /** Without options, for there may be a password. */
  @Override
  public String toString() {
    int question = uri.indexOf('?');
    return "BrokerUrl[" + (question < 0 ? uri : uri.substring(0, question)) + "]";
  }
}
