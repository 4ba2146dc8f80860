package io.lightmq.samples;

/** Where the samples find their broker. */
final class Samples {

  private Samples() {}

  /** The system property {@code lightmq.uri}, by default a broker on this machine. */
  static String brokerUri() {
    return System.getProperty("lightmq.uri", "lightmq://127.0.0.1:7654");
  }
}
