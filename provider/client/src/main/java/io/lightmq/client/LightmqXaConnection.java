package io.lightmq.client;

import jakarta.jms.JMSException;
import jakarta.jms.XAQueueConnection;
import jakarta.jms.XAQueueSession;
import jakarta.jms.XASession;
import jakarta.jms.XATopicConnection;
import jakarta.jms.XATopicSession;

/** A connection with sessions for distributed transactions, and ordinary ones beside them. */
final class LightmqXaConnection extends LightmqConnection
    implements XAQueueConnection, XATopicConnection {

  LightmqXaConnection(ClientSettings settings, Domain domain) throws JMSException {
    super(settings, domain);
  }

  @Override
  public XASession createXASession() throws JMSException {
    use();
    return openXaSession(domain());
  }

  @Override
  public XAQueueSession createXAQueueSession() throws JMSException {
    use();
    return openXaSession(Domain.QUEUE);
  }

  @Override
  public XATopicSession createXATopicSession() throws JMSException {
    use();
    return openXaSession(Domain.TOPIC);
  }

  LightmqXaSession openXaSession(Domain kind) throws JMSException {
    requireOpen();
    return opened(new LightmqXaSession(this, kind));
  }
}
