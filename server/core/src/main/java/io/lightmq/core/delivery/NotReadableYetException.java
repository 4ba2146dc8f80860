package io.lightmq.core.delivery;

import java.io.IOException;

/** The journal has committed something and does not give it yet; it will soon. */
final class NotReadableYetException extends IOException {
  private static final long serialVersionUID = 1;

  NotReadableYetException() {
    super("the journal does not give this yet");
  }
}
