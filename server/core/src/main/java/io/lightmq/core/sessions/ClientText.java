package io.lightmq.core.sessions;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.state.Refusal;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;

/**
 * Texts of clients that become names. What cannot be one is refused with what is wrong, before
 * anything is made of it; no text may reach a constructor that throws.
 */
public final class ClientText {
  /** The longest name of a subscription, and the longest client id. */
  static final int MAX_NAME_CHARS = 512;

  private ClientText() {}

  /**
   * The name of a destination that a client, a message or a setting says.
   *
   * @throws Refusal if there can be none of this name
   */
  public static DestinationName destination(DestinationKind kind, String name) {
    String wrong = DestinationName.problem(name);
    if (wrong != null) {
      throw new Refusal(FaultCode.INVALID_DESTINATION, wrong);
    }
    return new DestinationName(kind, name);
  }

  /** Whether a client may name a destination so. */
  public static boolean mayName(String destination) {
    return DestinationName.problem(destination) == null
        && !destination.startsWith(Destination.HIDDEN);
  }

  /**
   * Checks a client id, or the name of a subscription.
   *
   * @param what what it is, with its article
   * @throws Refusal if it is none
   */
  static String name(FaultCode code, String what, String text) {
    if (text.isEmpty() || text.length() > MAX_NAME_CHARS) {
      throw new Refusal(
          code,
          what + " has 1 to " + MAX_NAME_CHARS + " characters, this one has " + text.length());
    }
    if (!isWellFormed(text)) {
      throw new Refusal(code, what + " has no halves of surrogate pairs, this one has");
    }
    return text;
  }

  /** Whether a text can be written in UTF-8 and read again as the same. */
  public static boolean isWellFormed(String text) {
    for (int at = 0; at < text.length(); at++) {
      char c = text.charAt(at);
      if (Character.isHighSurrogate(c)
          && at + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(at + 1))) {
        at++;
      } else if (Character.isSurrogate(c)) {
        return false;
      }
    }
    return true;
  }
}
