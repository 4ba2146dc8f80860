package io.lightmq.server.http;

/** What is behind a path of the admin port. Called on an event loop; must not block for long. */
public interface Page {
  /** Content type of plain text. */
  String TEXT = "text/plain; charset=utf-8";

  /** The answer of this moment. */
  Answer answer();

  /**
   * An answer.
   *
   * @param status the HTTP status code
   */
  record Answer(int status, String contentType, String body) {}
}
