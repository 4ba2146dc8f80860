package io.lightmq.wire.entry;

/** The kinds of message body, with their code in the message. */
public enum BodyType {
  /** No body. */
  MESSAGE(0),
  TEXT(1),
  BYTES(2),
  MAP(3),
  STREAM(4),
  OBJECT(5);

  private static final BodyType[] BY_CODE = {MESSAGE, TEXT, BYTES, MAP, STREAM, OBJECT};

  private final int code;

  BodyType(int code) {
    this.code = code;
  }

  /** The code in the message. */
  public int code() {
    return code;
  }

  /**
   * The type of a code.
   *
   * @throws MalformedMessageException if there is none
   */
  public static BodyType of(int code) {
    if (code < 0 || code >= BY_CODE.length) {
      throw new MalformedMessageException(
          "body type " + code + " is unknown; known are 0 to " + (BY_CODE.length - 1));
    }
    return BY_CODE[code];
  }
}
