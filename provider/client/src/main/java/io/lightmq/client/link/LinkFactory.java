package io.lightmq.client.link;

/**
 * Finds the broker behind a URI. Found by {@link java.util.ServiceLoader}; the client itself brings
 * the one for TCP.
 */
public interface LinkFactory {
  /**
   * Whether it serves the scheme: {@code lightmq}, {@code lightmqs}, {@code mem} or {@code file}.
   */
  boolean handles(String scheme);

  /**
   * Gives access to the broker, starting it where it lives in this process. May block; called once
   * per connection, which closes the endpoint when it ends.
   *
   * @throws java.io.IOException if the broker cannot be started; the message says why
   */
  Endpoint open(ClientUri uri) throws java.io.IOException;
}
