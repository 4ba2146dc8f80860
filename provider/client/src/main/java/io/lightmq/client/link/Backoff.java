package io.lightmq.client.link;

/** The pauses between attempts to connect: doubling up to a maximum, each shortened by chance. */
final class Backoff {
  private final int firstMillis;
  private final int maxMillis;
  private int attempts;

  Backoff(int firstMillis, int maxMillis) {
    this.firstMillis = firstMillis;
    this.maxMillis = Math.max(firstMillis, maxMillis);
  }

  /** How many pauses were asked for since the last success. */
  int attempts() {
    return attempts;
  }

  /**
   * The next pause; the first attempt after a loss comes at once.
   *
   * @param chance from 0 to below 1: how much of up to a quarter the pause is shortened
   */
  long nextMillis(double chance) {
    int attempt = attempts;
    attempts++;
    if (attempt == 0) {
      return 0;
    }
    long full = Math.min(maxMillis, (long) firstMillis << Math.min(attempt - 1, 30));
    return full - (long) (full / 4.0 * chance);
  }

  /** The link is open again. */
  void reset() {
    attempts = 0;
  }
}
