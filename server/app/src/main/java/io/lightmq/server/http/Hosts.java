package io.lightmq.server.http;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What requests may call this machine. A page of a web site that lets its own name lead here (DNS
 * rebinding) makes a browser ask under that name, and is refused.
 */
final class Hosts {
  private final Set<String> names = new HashSet<>();

  Hosts(List<String> configured) {
    names.add("localhost");
    for (String each : configured) {
      names.add(each.toLowerCase(Locale.ROOT));
    }
    try {
      String own = InetAddress.getLocalHost().getHostName().toLowerCase(Locale.ROOT);
      names.add(own);
      names.add(own.split("\\.", 2)[0]);
    } catch (UnknownHostException e) {
      names.remove(""); // a machine without a name is called by its address
    }
  }

  /** Whether a {@code Host} header names this machine; one that is missing does. */
  boolean isOwn(@Nullable String header) {
    if (header == null || header.isEmpty() || names.contains("*")) {
      return true;
    }
    String host = header.trim().toLowerCase(Locale.ROOT);
    if (host.startsWith("[")) {
      int end = host.indexOf(']');
      return end > 0 && NetUtil.isValidIpV6Address(host.substring(1, end));
    }
    int colon = host.indexOf(':');
    String name = colon < 0 ? host : host.substring(0, colon);
    return names.contains(name) || NetUtil.isValidIpV4Address(name);
  }
}
