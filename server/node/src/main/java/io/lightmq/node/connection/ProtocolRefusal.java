package io.lightmq.node.connection;

import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;

/** A request that cannot be granted: the caller's mistake, answered with a code. */
final class ProtocolRefusal extends Exception {
  private static final long serialVersionUID = 1L;

  private final FaultCode code;
  private final boolean fatal;

  private ProtocolRefusal(FaultCode code, String text, boolean fatal) {
    super(Printable.line(text), null, false, false);
    this.code = code;
    this.fatal = fatal;
  }

  /** Refuses the one request. */
  static ProtocolRefusal of(FaultCode code, String text) {
    return new ProtocolRefusal(code, text, false);
  }

  /** Ends the connection, since its peer does not follow the protocol. */
  static ProtocolRefusal protocol(String text) {
    return new ProtocolRefusal(FaultCode.PROTOCOL_ERROR, text, true);
  }

  FaultCode code() {
    return code;
  }

  boolean fatal() {
    return fatal;
  }

  String text() {
    String text = getMessage();
    return text == null ? code.name() : text;
  }
}
