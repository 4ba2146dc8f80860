package io.lightmq.server.admin;

import io.lightmq.wire.entry.FaultCode;

/** The broker refused, or could not be reached. */
final class AdminException extends Exception {
  private static final long serialVersionUID = 1L;

  private final FaultCode code;

  AdminException(FaultCode code, String text) {
    super(text);
    this.code = code;
  }

  FaultCode code() {
    return code;
  }
}
