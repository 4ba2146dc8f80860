package io.lightmq.wire.entry;

/** The kinds of message body, with their code in the message. */
public enum BodyType {
  /** No body. */
  MESSAGE,
  TEXT,
  BYTES,
  MAP,
  STREAM,
  OBJECT;

  private static final BodyType[] ALL = values();

  /** The code in the message. */
  public int code() {
    return ordinal();
  }

  /**
   * The type of a code.
   *
   * @throws MalformedMessageException if there is none
   */
  public static BodyType of(int code) {
    if (code < 0 || code >= ALL.length) {
      throw new MalformedMessageException(
          "body type " + code + " is unknown; known are 0 to " + (ALL.length - 1));
    }
    return ALL[code];
  }
}
