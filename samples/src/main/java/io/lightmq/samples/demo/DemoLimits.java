package io.lightmq.samples.demo;

/** The places and limits of one demo run. */
final class DemoLimits {

  static final String QUEUE = "demo.lines";
  static final String TOPIC = "demo.news";

  /** The message property with the line's number. */
  static final String LINE = "line";

  /** Sends without a receipt per destination. */
  static final int MAX_IN_FLIGHT = 1_000;

  /** Without any progress for so long the demo gives up and says what it was waiting for. */
  static final long PATIENCE_MILLIS = 60_000;

  /** After the last line has come, so long for a duplicate that is still on its way. */
  static final long QUIET_MILLIS = 1_000;

  private DemoLimits() {}
}
