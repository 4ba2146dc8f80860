package io.lightmq.wire;

import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import io.netty.handler.codec.DecoderException;

/** The peer broke the protocol: its connection is closed with this code and text. */
public final class ProtocolException extends DecoderException {
  private static final long serialVersionUID = 1L;

  private final FaultCode code;

  /** With the code and the facts for the {@link Frame.Goodbye}. */
  public ProtocolException(FaultCode code, String text) {
    super(Printable.line(text));
    this.code = code;
  }

  /** A frame that does not follow the protocol. */
  static ProtocolException bad(String text) {
    return new ProtocolException(FaultCode.PROTOCOL_ERROR, text);
  }

  /** The code for the {@link Frame.Goodbye}. */
  public FaultCode code() {
    return code;
  }

  /** The frame that tells the peer. */
  public Frame.Goodbye goodbye() {
    return new Frame.Goodbye(code, String.valueOf(getMessage()));
  }
}
