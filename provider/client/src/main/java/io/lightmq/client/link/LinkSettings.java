package io.lightmq.client.link;

import org.jspecify.annotations.Nullable;

/**
 * What a link needs to know; times in milliseconds.
 *
 * @param sendTimeoutMillis how long a send waits for publish credit before it fails
 * @param maxUnconfirmedBytes bytes of messages not yet confirmed; beyond it sends wait
 * @param batchBytes bytes of messages that are sent without further waiting
 * @param lingerMillis how long messages wait for others while earlier ones are on their way
 * @param reconnectAttempts attempts before a lost link fails for good; -1 for no limit
 * @param initialReconnectAttempts attempts after the first one to connect at all; -1 for no limit
 */
public record LinkSettings(
    ClientUri uri,
    @Nullable String user,
    @Nullable String password,
    @Nullable String clientId,
    int connectTimeoutMillis,
    int requestTimeoutMillis,
    int sendTimeoutMillis,
    long maxUnconfirmedBytes,
    int batchBytes,
    int lingerMillis,
    boolean failover,
    int reconnectDelayMillis,
    int maxReconnectDelayMillis,
    int reconnectAttempts,
    int initialReconnectAttempts) {

  /**
   * What a first connect takes at most: it begins again while the broker says to come later, for as
   * long as a request may take, and then tries each address once more.
   */
  long firstConnectMillis(int addresses) {
    return requestTimeoutMillis
        + (connectTimeoutMillis * 2L + requestTimeoutMillis) * Math.max(1, addresses);
  }

  /** With other credentials. */
  public LinkSettings withCredentials(@Nullable String newUser, @Nullable String newPassword) {
    return new LinkSettings(
        uri,
        newUser,
        newPassword,
        clientId,
        connectTimeoutMillis,
        requestTimeoutMillis,
        sendTimeoutMillis,
        maxUnconfirmedBytes,
        batchBytes,
        lingerMillis,
        failover,
        reconnectDelayMillis,
        maxReconnectDelayMillis,
        reconnectAttempts,
        initialReconnectAttempts);
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "LinkSettings[" + uri + (user == null ? "" : ", user " + user) + "]";
  }
}
