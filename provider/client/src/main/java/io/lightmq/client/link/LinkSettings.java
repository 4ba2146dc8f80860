package io.lightmq.client.link;

import org.jspecify.annotations.Nullable;

/** What a link needs to know, in parts by idea. */
public record LinkSettings(
    ClientUri uri,
    Credentials credentials,
    @Nullable String clientId,
    Timeouts timeouts,
    Batching batching,
    Reconnect reconnect) {

  /** Who the user is; without a user the link is anonymous. */
  public record Credentials(@Nullable String user, @Nullable String password) {
    /** No user. */
    public static final Credentials NONE = new Credentials(null, null);

    /** Without the password. */
    @Override
    public String toString() {
      return user == null ? "no user" : "user " + user;
    }
  }

  /**
   * How long something is waited for.
   *
   * @param connectMillis for a connection to an address
   * @param requestMillis for the answer to a request
   * @param sendMillis how long a send waits for publish credit before it fails
   */
  public record Timeouts(int connectMillis, int requestMillis, int sendMillis) {}

  /**
   * How messages are gathered on their way.
   *
   * @param maxUnconfirmedBytes bytes of messages not yet confirmed; beyond it sends wait
   * @param batchBytes bytes of messages that are sent without further waiting
   * @param lingerMillis how long messages wait for others while earlier ones are on their way
   */
  public record Batching(long maxUnconfirmedBytes, int batchBytes, int lingerMillis) {}

  /**
   * How a lost link is made again.
   *
   * @param failover whether it is
   * @param randomize whether each attempt tries the addresses in an order of its own
   * @param delayMillis before the second attempt
   * @param multiplier what the delay grows by with each attempt that follows, 1 for not at all
   * @param maxDelayMillis what the delay grows to
   * @param attempts before a lost link fails for good; -1 for no limit
   * @param initialAttempts after the first one to connect at all; -1 for no limit
   */
  public record Reconnect(
      boolean failover,
      boolean randomize,
      int delayMillis,
      double multiplier,
      int maxDelayMillis,
      int attempts,
      int initialAttempts) {}

  /**
   * What a first connect takes at most: it begins again while the broker says to come later, for as
   * long as a request may take, and then tries each address once more.
   */
  long firstConnectMillis(int addresses) {
    return timeouts.requestMillis()
        + (timeouts.connectMillis() * 2L + timeouts.requestMillis()) * Math.max(1, addresses);
  }

  /** With other credentials. */
  public LinkSettings with(Credentials part) {
    return new LinkSettings(uri, part, clientId, timeouts, batching, reconnect);
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "LinkSettings[" + uri + ", " + credentials + "]";
  }
}
