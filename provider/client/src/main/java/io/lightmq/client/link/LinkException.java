package io.lightmq.client.link;

import io.lightmq.wire.entry.FaultCode;
import org.jspecify.annotations.Nullable;

/** A request that failed, with the broker's code; the JMS layer makes a JMS exception of it. */
public final class LinkException extends Exception {
  private static final long serialVersionUID = 1L;

  private final FaultCode code;
  private final boolean unsent;

  public LinkException(FaultCode code, String text) {
    super(text);
    this.code = code;
    this.unsent = false;
  }

  public LinkException(FaultCode code, String text, Throwable cause) {
    super(text, cause);
    this.code = code;
    this.unsent = false;
  }

  private LinkException(FaultCode code, String text, @Nullable Throwable cause, boolean unsent) {
    super(text, cause);
    this.code = code;
    this.unsent = unsent;
  }

  /** The failure of something that was refused here, so that the broker knows nothing of it. */
  static LinkException unsent(FaultCode code, String text, @Nullable Throwable cause) {
    return new LinkException(code, text, cause, true);
  }

  /** Why something fails that was begun on a connection before. */
  public static LinkException connectionLost() {
    return new LinkException(FaultCode.CLOSING, "the connection was lost");
  }

  /** Whether the broker knows nothing of what has failed, nor ever will. */
  public boolean isUnsent() {
    return unsent;
  }

  /** The code. */
  public FaultCode code() {
    return code;
  }

  /** Whether another broker address or a later attempt cannot help. */
  public boolean isFinal() {
    return switch (code) {
      case AUTHENTICATION_FAILED, NOT_AUTHORIZED, VERSION_MISMATCH, CLIENT_ID_IN_USE -> true;
      default -> false;
    };
  }

  /** The same failure with the caller's stack. */
  LinkException here() {
    return new LinkException(code, String.valueOf(getMessage()), this, unsent);
  }
}
