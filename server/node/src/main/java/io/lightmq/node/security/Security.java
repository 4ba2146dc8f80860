package io.lightmq.node.security;

import io.lightmq.spi.Authenticator;
import io.lightmq.spi.Authorizer;

/**
 * Who may connect to a node and what they may do there.
 *
 * @param unknownUserKey a secret, the same after a restart, that gives users who do not exist a
 *     salt
 */
public record Security(Authenticator authenticator, Authorizer authorizer, byte[] unknownUserKey) {}
