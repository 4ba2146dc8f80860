package io.lightmq.embedded;

import io.lightmq.node.security.RoleAuthorizer;
import io.lightmq.spi.Authenticator;
import io.lightmq.spi.Principal;
import java.util.Optional;
import java.util.Set;

/**
 * Who connects to a broker in its own process: the application, which owns it and may do
 * everything. There are no other users, so a user name with a password is refused.
 */
final class OwnProcess implements Authenticator {
  private static final Principal APPLICATION =
      new Principal("application", Set.of(RoleAuthorizer.ADMIN));

  @Override
  public Optional<Credential> find(String userName) {
    return Optional.empty();
  }

  @Override
  public Optional<Principal> anonymous(boolean loopback) {
    return Optional.of(APPLICATION);
  }
}
