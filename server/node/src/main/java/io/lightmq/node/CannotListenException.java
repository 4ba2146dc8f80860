package io.lightmq.node;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Locale;

/**
 * An address on which a broker or its admin port cannot listen: in use, not of this machine, or not
 * permitted. The message names host, port and reason, and what to do; who knows the configuration
 * adds its key.
 */
public final class CannotListenException extends IOException {
  private static final long serialVersionUID = 1L;

  private final transient SocketAddress address;

  public CannotListenException(SocketAddress address, Throwable cause) {
    super("cannot listen on " + show(address) + ": " + reason(cause), cause);
    this.address = address;
  }

  /** The address as it was asked for. */
  public SocketAddress address() {
    return address;
  }

  private static String reason(Throwable cause) {
    String text = String.valueOf(cause.getMessage());
    return text + "; " + remedy(text.toLowerCase(Locale.ROOT));
  }

  private static String remedy(String reason) {
    if (reason.contains("in use")) {
      return "another process listens there: end it, or take another port";
    }
    if (reason.contains("permission")) {
      return "ports below 1024 need a right of their own: take a higher one";
    }
    if (reason.contains("assign") || reason.contains("unresolved") || reason.contains("address")) {
      return "take an address that this machine has, or 0.0.0.0 for all of them";
    }
    return "take another address or port";
  }

  /** An address as one writes it: {@code host:port}, without the name it was looked up by. */
  public static String show(SocketAddress address) {
    if (address instanceof InetSocketAddress inet && !inet.isUnresolved()) {
      String host = inet.getAddress().getHostAddress();
      return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + inet.getPort();
    }
    return address.toString();
  }
}
