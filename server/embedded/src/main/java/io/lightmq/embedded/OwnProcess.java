package io.lightmq.embedded;

import io.lightmq.node.security.RoleAuthorizer;
import io.lightmq.node.security.UserStore;
import io.lightmq.spi.Authenticator;
import io.lightmq.spi.Principal;
import java.util.Optional;
import java.util.Set;

/**
 * Who connects to a broker in its own process: the application, which owns it and may do
 * everything, if it names no user. Else the user must be one of the data directory's, where a
 * server has left them; one in memory has none.
 */
final class OwnProcess implements Authenticator {
  private static final Principal APPLICATION =
      new Principal("application", Set.of(RoleAuthorizer.ADMIN));

  private final Optional<UserStore> users;

  OwnProcess(Optional<UserStore> users) {
    this.users = users;
  }

  @Override
  public Optional<Credential> find(String userName) {
    return users.flatMap(store -> store.find(userName));
  }

  @Override
  public Optional<Principal> anonymous(boolean loopback) {
    return Optional.of(APPLICATION);
  }
}
