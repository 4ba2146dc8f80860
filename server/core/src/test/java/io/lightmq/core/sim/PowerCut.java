package io.lightmq.core.sim;

/** Thrown by a simulated disk in the middle of an operation at which the test cuts the power. */
public final class PowerCut extends Error {
  private static final long serialVersionUID = 1L;

  PowerCut(String message) {
    super(message);
  }
}
