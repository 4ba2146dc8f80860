package io.lightmq.client.link;

/** The pauses between attempts to connect: growing up to a maximum, each shortened by chance. */
final class Backoff {
  private final int firstMillis;
  private final double multiplier;
  private final int maxMillis;
  private int attempts;

  Backoff(LinkSettings.Reconnect settings) {
    this.firstMillis = settings.delayMillis();
    this.multiplier = settings.multiplier();
    this.maxMillis = Math.max(firstMillis, settings.maxDelayMillis());
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
    // Far out the power is infinite, and the maximum counts.
    long full = (long) Math.min(maxMillis, firstMillis * Math.pow(multiplier, attempt - 1));
    return full - (long) (full / 4.0 * chance);
  }

  /** The link is open again. */
  void reset() {
    attempts = 0;
  }
}
