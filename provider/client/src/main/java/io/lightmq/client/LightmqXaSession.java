package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.wire.entry.Xid;
import jakarta.jms.JMSException;
import jakarta.jms.QueueSession;
import jakarta.jms.Session;
import jakarta.jms.TopicSession;
import jakarta.jms.XAQueueSession;
import jakarta.jms.XATopicSession;
import javax.transaction.xa.XAResource;
import org.jspecify.annotations.Nullable;

/**
 * A session whose work belongs to branches of distributed transactions, as its resource is told.
 * Outside of any it sends at once and acknowledges as in mode AUTO.
 */
final class LightmqXaSession extends LightmqSession implements XAQueueSession, XATopicSession {
  private final LightmqXaConnection connection;
  private final LightmqXaResource resource;

  LightmqXaSession(LightmqXaConnection connection, Domain domain) throws JMSException {
    super(connection, domain, AckMode.XA);
    this.connection = connection;
    this.resource = new LightmqXaResource(this, connection.link());
  }

  @Override
  public Session getSession() throws JMSException {
    requireOpen();
    return this;
  }

  @Override
  public QueueSession getQueueSession() throws JMSException {
    requireOpen();
    return this;
  }

  @Override
  public TopicSession getTopicSession() throws JMSException {
    requireOpen();
    return this;
  }

  @Override
  public XAResource getXAResource() {
    return resource;
  }

  @Override
  public void commit() throws JMSException {
    requireOpen();
    throw JmsFaults.transactionInProgress("commit");
  }

  @Override
  public void rollback() throws JMSException {
    requireOpen();
    throw JmsFaults.transactionInProgress("rollback");
  }

  // ---- for its resource ----

  UnitOfWork unit(KeptPart kept) {
    return new UnitOfWork(link(), id(), inbox(), kept);
  }

  void work(@Nullable UnitOfWork unit) {
    units().set(unit);
  }

  void complete(UnitOfWork unit, @Nullable Xid prepared) throws JMSException {
    settling()
        .end(
            unit,
            (sends, places, stale, staged) ->
                link().commit(id(), sends, places, stale, staged, prepared));
  }

  void drop(UnitOfWork unit) throws JMSException {
    settling().drop(unit);
  }

  @Override
  void endWork(boolean attempted) {
    resource.closed();
    connection.undecided(resource.undecided());
  }
}
