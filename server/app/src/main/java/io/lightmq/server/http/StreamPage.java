package io.lightmq.server.http;

import java.io.IOException;

/** A page that is too long to be made at once. It is written on a thread of its own kind. */
public interface StreamPage {
  /** What it is. */
  String contentType();

  /**
   * Writes the page; blocks while the reader is slow.
   *
   * @throws IOException if the reader has gone or takes too long
   */
  void write(Appendable out) throws IOException;
}
