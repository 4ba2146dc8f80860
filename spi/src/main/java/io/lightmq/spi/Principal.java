package io.lightmq.spi;

import java.nio.charset.StandardCharsets;
import java.util.Set;

/**
 * Who a connection acts for.
 *
 * @param name user name, 1 to 255 bytes in UTF-8
 * @param roles what {@link Authorizer} may grant rights by
 */
public record Principal(String name, Set<String> roles) {
  /** The name of whoever comes without a user. */
  public static final String ANONYMOUS = "anonymous";

  /** The longest name: it stands on each message that the user sends. */
  public static final int MAX_NAME_BYTES = 255;

  public Principal {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes > MAX_NAME_BYTES) {
      throw new IllegalArgumentException(
          "a user name has 1 to " + MAX_NAME_BYTES + " bytes in UTF-8, this one has " + bytes);
    }
    roles = Set.copyOf(roles);
  }
}
