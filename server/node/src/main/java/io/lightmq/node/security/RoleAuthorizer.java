package io.lightmq.node.security;

import io.lightmq.spi.Authorizer;
import io.lightmq.spi.Principal;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The default rights, by role and for all destinations alike: {@code admin} may do everything,
 * {@code user} and {@code anonymous} may send, consume and create. Other roles permit nothing.
 */
public final class RoleAuthorizer implements Authorizer {
  /** May do everything. */
  public static final String ADMIN = "admin";

  /** May send, consume and create. */
  public static final String USER = "user";

  /** The role of connections without credentials; may send, consume and create. */
  public static final String ANONYMOUS = "anonymous";

  private static final Set<Action> APPLICATION =
      EnumSet.of(Action.SEND, Action.CONSUME, Action.CREATE);

  private static final Map<String, Set<Action>> RIGHTS =
      Map.of(
          ADMIN, EnumSet.allOf(Action.class),
          USER, APPLICATION,
          ANONYMOUS, APPLICATION);

  @Override
  public boolean permits(Principal principal, Action action, String destination) {
    for (String role : principal.roles()) {
      if (RIGHTS.getOrDefault(role, Set.of()).contains(action)) {
        return true;
      }
    }
    return false;
  }
}
