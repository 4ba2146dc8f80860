package io.lightmq.client;

import jakarta.jms.JMSException;
import jakarta.jms.XAQueueConnection;
import jakarta.jms.XAQueueSession;
import jakarta.jms.XASession;
import jakarta.jms.XATopicConnection;
import jakarta.jms.XATopicSession;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/** A connection with sessions for distributed transactions, and ordinary ones beside them. */
final class LightmqXaConnection extends LightmqConnection
    implements XAQueueConnection, XATopicConnection {

  /** Branches of sessions that are closed, and that need this connection's link until they end. */
  private final Set<BranchWork> undecided = new HashSet<>();

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

  /** A session of it is closed that has worked in these. */
  void undecided(Collection<BranchWork> branches) {
    synchronized (undecided) {
      undecided.removeIf(branch -> !branch.needsItsLinks());
      undecided.addAll(branches);
    }
  }

  @Override
  void release() {
    Set<BranchWork> left;
    synchronized (undecided) {
      undecided.removeIf(branch -> !branch.needsItsLinks());
      left = Set.copyOf(undecided);
      undecided.clear();
    }
    Lingering.close(link(), left);
  }

  LightmqXaSession openXaSession(Domain kind) throws JMSException {
    requireOpen();
    return opened(new LightmqXaSession(this, kind));
  }
}
