package io.lightmq.tck.hostile;

import java.io.IOException;

/**
 * What attacks are tried against for comparison: it reads, gives stock answers and keeps nothing.
 * What an honest client loses beside it is the price of the machine, not of the broker.
 */
public final class Listener implements AutoCloseable {
  private final HostileBroker behind = HostileBroker.harmless();

  public Listener() throws IOException {}

  public int port() {
    return behind.port();
  }

  @Override
  public void close() throws IOException {
    behind.close();
  }
}
