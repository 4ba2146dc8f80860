package io.lightmq.client.link;

import io.lightmq.wire.entry.NearNames;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * A connection URI, taken apart: {@code lightmq://host:7654,host2?option=value}, {@code
 * lightmq:mem:name} or {@code lightmq:file:/dir}.
 *
 * @param scheme {@code lightmq} for TCP, {@code lightmqs} for TLS, {@code mem} or {@code file} for
 *     a broker in this process
 * @param hosts the brokers to try in turn; empty for a broker in this process
 * @param path the name or directory of a broker in this process, else empty
 * @param options the decoded options, in the order in which they were written
 */
public record ClientUri(
    String scheme, List<HostPort> hosts, String path, Map<String, String> options) {
  /** The port where none is written. */
  public static final int DEFAULT_PORT = 7654;

  private static final int MAX_HOSTS = 64;

  public ClientUri {
    hosts = List.copyOf(hosts);
    options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
  }

  /** A broker's host and port. */
  public record HostPort(String host, int port) {
    public HostPort {
      if (host.isEmpty()) {
        throw new IllegalArgumentException("a broker address has no host");
      }
      if (port < 1 || port > 65_535) {
        throw new IllegalArgumentException("port " + port + " of " + host + " is not 1 to 65535");
      }
    }

    @Override
    public String toString() {
      return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
  }

  /**
   * Takes a URI apart.
   *
   * @throws IllegalArgumentException if it has none of the three forms
   */
  public static ClientUri parse(String text) {
    refuseBlanks(text);
    if (isList(text)) {
      return parse(withoutParentheses(text));
    }
    int question = text.indexOf('?');
    String head = question < 0 ? text : text.substring(0, question);
    Map<String, String> options =
        question < 0 ? Map.of() : parseOptions(text.substring(question + 1));
    String lower = head.toLowerCase(Locale.ROOT);
    for (String scheme : List.of("lightmq", "lightmqs")) {
      if (lower.startsWith(scheme + "://")) {
        refuseUserInfo(text);
        return new ClientUri(scheme, parseHosts(scheme, head), "", options);
      }
    }
    if (lower.equals("lightmq:mem") || lower.startsWith("lightmq:mem:")) {
      String name = head.length() > 12 ? head.substring(12) : "";
      return new ClientUri("mem", List.of(), name.isEmpty() ? "default" : name, options);
    }
    if (lower.startsWith("lightmq:file:") && head.length() > 13) {
      return new ClientUri("file", List.of(), decode(head.substring(13)), options);
    }
    refuseUserInfo(text);
    throw new IllegalArgumentException(
        "the URI '"
            + head
            + "' is none of lightmq://host:port, lightmq:mem:name and lightmq:file:/directory"
            + nearest(head));
  }

  private static final String FAILOVER = "failover:";

  private static boolean isList(String text) {
    return text.startsWith("(") || text.regionMatches(true, 0, FAILOVER, 0, FAILOVER.length());
  }

  /**
   * {@code failover:(lightmq://a,lightmq://b)?option=value} as {@code lightmq://a,lightmq://b?…}.
   */
  private static String withoutParentheses(String text) {
    String list = text.startsWith("(") ? text : text.substring(FAILOVER.length());
    if (!list.startsWith("(")) {
      if (isList(list)) {
        throw new IllegalArgumentException("the URI has failover: twice");
      }
      return list;
    }
    int question = list.indexOf('?');
    int close = (question < 0 ? list : list.substring(0, question)).lastIndexOf(')');
    String rest = close < 0 ? "" : list.substring(close + 1);
    if (close < 0 || !(rest.isEmpty() || rest.startsWith("?")) || isList(list.substring(1))) {
      throw new IllegalArgumentException(
          "a list of brokers is written failover:(lightmq://host:port,lightmq://host2:port2)?…,"
              + " with all options behind the parenthesis");
    }
    return list.substring(1, close) + rest;
  }

  /**
   * Blanks come from files and copies, nobody sees them, and no host or path is meant to have them.
   */
  private static void refuseBlanks(String text) {
    int question = text.indexOf('?');
    String head = question < 0 ? text : text.substring(0, question);
    if (!head.equals(head.strip())) {
      throw new IllegalArgumentException(
          "the URI '" + head.strip() + "' has a blank before or behind it");
    }
  }

  /** The form that was probably meant. */
  private static String nearest(String head) {
    int slashes = head.indexOf("://");
    if (slashes >= 0) {
      return "; write lightmq://" + head.substring(slashes + 3);
    }
    String rest = head.regionMatches(true, 0, "lightmq:", 0, 8) ? head.substring(8) : head;
    int colon = rest.indexOf(':');
    String word = colon < 0 ? rest : rest.substring(0, colon);
    List<String> near = NearNames.of(word, List.of("mem", "file"), 1);
    if (!near.isEmpty()) {
      return "; write lightmq:" + near.get(0) + (colon < 0 ? "" : rest.substring(colon));
    }
    return rest.matches("[A-Za-z0-9._-]+(:[0-9]+)?") ? "; write lightmq://" + rest : "";
  }

  /** Refuses {@code user:password@host} without repeating the secret, whatever is in it. */
  private static void refuseUserInfo(String text) {
    int question = text.indexOf('?');
    int firstOption = question < 0 ? -1 : text.indexOf('=', question);
    String first = firstOption < 0 ? text : text.substring(0, firstOption);
    if (first.indexOf('@') >= 0) {
      throw new IllegalArgumentException(
          "the URI has a user or password before its host, where they do not belong; use"
              + " ?user=…&password=…");
    }
  }

  /** The scheme stands before the first host, and may before each. */
  private static List<HostPort> parseHosts(String scheme, String head) {
    String prefix = scheme + "://";
    List<HostPort> hosts = new ArrayList<>();
    for (String part : head.split(",", -1)) {
      String host = part.trim();
      if (host.regionMatches(true, 0, prefix, 0, prefix.length())) {
        host = host.substring(prefix.length());
      } else if (host.contains("://")) {
        throw new IllegalArgumentException(
            "the brokers of one URI have one scheme, here " + prefix + "; one has another");
      }
      hosts.add(parseHost(host.endsWith("/") ? host.substring(0, host.length() - 1) : host));
    }
    if (hosts.size() > MAX_HOSTS) {
      throw new IllegalArgumentException(
          "the URI names " + hosts.size() + " brokers, the limit is " + MAX_HOSTS);
    }
    return hosts;
  }

  private static HostPort parseHost(String part) {
    int close = part.lastIndexOf(']');
    int colon = part.lastIndexOf(':');
    String host = part;
    int port = DEFAULT_PORT;
    if (colon > close) {
      host = part.substring(0, colon);
      try {
        port = Integer.parseInt(part.substring(colon + 1));
      } catch (NumberFormatException e) { // its text may be a part of a password
        throw new IllegalArgumentException(
            "the port of the host '" + host + "' is not a number from 1 to 65535");
      }
    }
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    return new HostPort(host, port);
  }

  private static Map<String, String> parseOptions(String query) {
    Map<String, String> options = new LinkedHashMap<>();
    Set<String> names = new HashSet<>();
    for (String pair : query.split("&", -1)) {
      if (pair.isEmpty()) {
        continue;
      }
      int equals = pair.indexOf('=');
      if (equals <= 0) {
        throw new IllegalArgumentException(
            "option number "
                + (options.size() + 1)
                + " of the URI has no '=value'; in a value write & as %26");
      }
      String name = decode(pair.substring(0, equals));
      if (!pair.equals(pair.strip())) {
        throw new IllegalArgumentException(
            "option "
                + name.strip()
                + " of the URI has a blank before or behind it; write %20 for one in a value");
      }
      if (!names.add(name.toLowerCase(Locale.ROOT))) {
        throw new IllegalArgumentException("option " + name + " is given twice in the URI");
      }
      options.put(name, decode(pair.substring(equals + 1)));
    }
    return options;
  }

  private static String decode(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /** The URI without its options, fit for logs. */
  public String location() {
    if (!hosts.isEmpty()) {
      StringBuilder text = new StringBuilder(scheme).append("://");
      for (int i = 0; i < hosts.size(); i++) {
        text.append(i == 0 ? "" : ",").append(hosts.get(i));
      }
      return text.toString();
    }
    return "lightmq:" + scheme + ":" + path;
  }

  /** The URI without its options, since they may hold a password. */
  @Override
  public String toString() {
    return location();
  }
}
