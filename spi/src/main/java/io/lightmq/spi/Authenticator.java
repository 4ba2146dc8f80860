package io.lightmq.spi;

import java.util.Optional;

/**
 * Knows users and their salted, iterated password verifiers. Called on admin threads; may block.
 */
public interface Authenticator {

  /**
   * What SCRAM-SHA-256 needs to know of a user (RFC 5802 section 3).
   *
   * @param salt at least 16 random bytes
   * @param iterations at least 4096
   */
  record Credential(
      Principal principal, byte[] salt, int iterations, byte[] storedKey, byte[] serverKey) {}

  /** The credential of a user, or empty if there is none. */
  Optional<Credential> find(String userName);

  /**
   * The principal of a connection from {@code remoteHost} without credentials, or empty if refused.
   */
  Optional<Principal> anonymous(boolean loopback);
}
