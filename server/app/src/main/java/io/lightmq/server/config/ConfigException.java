package io.lightmq.server.config;

/**
 * A configuration that cannot be used; the message names file, line, what is wrong and what to do.
 */
public final class ConfigException extends Exception {
  private static final long serialVersionUID = 1L;

  public ConfigException(String message) {
    super(message);
  }
}
