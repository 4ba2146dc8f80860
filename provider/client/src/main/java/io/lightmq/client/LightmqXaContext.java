package io.lightmq.client;

import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.XAJMSContext;
import java.util.concurrent.atomic.AtomicInteger;
import javax.transaction.xa.XAResource;

/** A context whose session works in branches of distributed transactions. */
final class LightmqXaContext extends LightmqContext implements XAJMSContext {
  private final LightmqXaSession session;

  LightmqXaContext(LightmqXaConnection connection) throws JMSException {
    this(connection, connection.openXaSession(Domain.UNIFIED));
  }

  private LightmqXaContext(LightmqXaConnection connection, LightmqXaSession session) {
    super(connection, new AtomicInteger(1), session);
    this.session = session;
  }

  @Override
  public JMSContext getContext() {
    return this;
  }

  @Override
  public XAResource getXAResource() {
    return session.getXAResource();
  }
}
