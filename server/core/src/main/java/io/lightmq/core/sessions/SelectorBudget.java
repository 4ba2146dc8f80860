package io.lightmq.core.sessions;

import io.lightmq.core.delivery.Browsers;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.wire.entry.FaultCode;
import org.jspecify.annotations.Nullable;

/**
 * The heap that open selectors may take: 64 bytes for each character, an eighth of the largest heap
 * in all. Beyond that new ones are refused; those of durable subscriptions count, but what is there
 * at start stays.
 *
 * <p>What was opened is summed up and what was closed is not taken off: all are counted anew when
 * the sum is over the bound.
 */
@OwnedBy("shard")
public final class SelectorBudget {
  public static final int BYTES_PER_CHAR = 64;
  private static final int SHARE_OF_HEAP = 8;

  private final ShardState state;
  private final Browsers browsers;
  private final long maxChars;

  /** At least as many as are open; more than any bound before the first count. */
  private long charsAtMost = Long.MAX_VALUE / 2;

  SelectorBudget(ShardState state, Browsers browsers) {
    this.state = state;
    this.browsers = browsers;
    this.maxChars = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP / BYTES_PER_CHAR;
  }

  /**
   * Takes a selector in that is about to be opened.
   *
   * @throws Refusal if there is no room for it
   */
  void take(@Nullable Selector selector) {
    if (selector == null) {
      return;
    }
    int chars = selector.text().length();
    if (charsAtMost + chars > maxChars) {
      charsAtMost = count();
    }
    if (charsAtMost + chars > maxChars) {
      throw new Refusal(
          FaultCode.LIMIT_REACHED,
          "the selector has "
              + chars
              + " characters, those that are open have "
              + charsAtMost
              + "; the limit is "
              + maxChars
              + ", an eighth of the broker's heap with "
              + BYTES_PER_CHAR
              + " bytes a character: close consumers, use shorter selectors or give the broker more"
              + " heap");
    }
    charsAtMost += chars;
  }

  /** Counts what is open, and forgets what is kept for consumers that might come again. */
  private long count() {
    long sum = browsers.selectorChars();
    for (Destination destination : state.destinations().all()) {
      for (Subscription each : destination.subscriptions()) {
        String own = each.selectorText();
        sum += own == null ? 0 : own.length();
        each.views().forgetRecent();
        sum += each.views().selectorChars();
      }
    }
    return sum;
  }
}
