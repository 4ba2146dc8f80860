package io.lightmq.server.http;

import java.util.List;

/**
 * Limits of the admin port.
 *
 * @param connections open at once
 * @param perAddress of them, from one address
 * @param requestMillis from a connection's first byte of a request, or its accept, to its whole
 *     request
 * @param idleMillis from an answer to the next request
 * @param writeMillis for each part of an answer to leave
 * @param hosts what a request may call this machine, besides its addresses and own names; {@code *}
 *     for anything
 */
public record HttpSettings(
    int connections,
    int perAddress,
    int requestMillis,
    int idleMillis,
    int writeMillis,
    List<String> hosts) {
  public HttpSettings {
    hosts = List.copyOf(hosts);
  }

  /** The limits that the documentation names. */
  public static HttpSettings defaults(List<String> hosts) {
    return new HttpSettings(64, 32, 5_000, 30_000, 10_000, hosts);
  }
}
