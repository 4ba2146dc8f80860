package io.lightmq.spi;

import java.util.Set;

/**
 * Who a connection acts for.
 *
 * @param name user name, at most 255 bytes in UTF-8
 * @param roles what {@link Authorizer} may grant rights by
 */
public record Principal(String name, Set<String> roles) {
  public Principal {
    roles = Set.copyOf(roles);
  }
}
