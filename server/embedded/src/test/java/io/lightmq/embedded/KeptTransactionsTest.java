package io.lightmq.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.Connection;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import jakarta.jms.XAConnection;
import jakarta.jms.XASession;
import java.nio.file.Path;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transactions that the broker keeps, from the client to the disk. */
class KeptTransactionsTest {
  private static final int MESSAGES = 3_000;

  private record Name(byte[] id) implements Xid {
    @Override
    public int getFormatId() {
      return 5;
    }

    @Override
    public byte[] getGlobalTransactionId() {
      return id;
    }

    @Override
    public byte[] getBranchQualifier() {
      return new byte[] {1};
    }
  }

  @TempDir Path directory;
  private LightmqConnectionFactory factory;

  @BeforeEach
  void start() {
    factory = new LightmqConnectionFactory("lightmq:file:" + directory.resolve("data"));
  }

  private static void send(Session session, int count) throws Exception {
    MessageProducer producer = session.createProducer(session.createQueue("orders"));
    for (int i = 0; i < count; i++) {
      producer.send(session.createTextMessage(i + " " + "x".repeat(1_000)));
    }
  }

  private static int receiveAll(Connection connection) throws Exception {
    try (Session session = connection.createSession()) {
      MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
      int count = 0;
      while (consumer.receive(count == 0 ? 2_000 : 500) instanceof TextMessage text) {
        assertThat(text.getText()).startsWith(count + " ");
        count++;
      }
      return count;
    }
  }

  @Test
  void aLongLocalTransactionIsThereAfterItsCommitAndOnlyThen() throws Exception {
    try (Connection connection = factory.createConnection()) {
      connection.start();
      Session session = connection.createSession(Session.SESSION_TRANSACTED);
      send(session, MESSAGES);
      assertThat(receiveAll(connection)).isZero();
      session.rollback();
      assertThat(receiveAll(connection)).isZero();
      send(session, MESSAGES);
      session.commit();
      assertThat(receiveAll(connection)).isEqualTo(MESSAGES);
    }
  }

  @Test
  void aPreparedBranchIsFoundAndCommittedByAnotherConnection() throws Exception {
    Xid xid = new Name(new byte[] {7});
    try (Connection other = factory.createConnection()) {
      other.start();
      try (XAConnection connection = factory.createXAConnection()) {
        XASession session = connection.createXASession();
        XAResource resource = session.getXAResource();
        resource.start(xid, XAResource.TMNOFLAGS);
        send(session, MESSAGES);
        resource.end(xid, XAResource.TMSUCCESS);
        assertThat(resource.prepare(xid)).isEqualTo(XAResource.XA_OK);
      }
      assertThat(receiveAll(other)).isZero();
      try (XAConnection connection = factory.createXAConnection()) {
        XAResource resource = connection.createXASession().getXAResource();
        Xid[] found = resource.recover(XAResource.TMSTARTRSCAN | XAResource.TMENDRSCAN);
        assertThat(found).hasSize(1);
        assertThat(found[0].getGlobalTransactionId()).containsExactly(7);
        resource.commit(found[0], false);
        assertThat(resource.recover(XAResource.TMSTARTRSCAN)).isEmpty();
      }
      assertThat(receiveAll(other)).isEqualTo(MESSAGES);
    }
  }

  @Test
  void whatAPreparedBranchHasReceivedIsHeldAndComesAgainAfterARollback() throws Exception {
    Xid xid = new Name(new byte[] {8});
    try (XAConnection connection = factory.createXAConnection()) {
      connection.start();
      try (Session plain = connection.createSession()) {
        send(plain, 1);
      }
      XASession session = connection.createXASession();
      XAResource resource = session.getXAResource();
      MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
      resource.start(xid, XAResource.TMNOFLAGS);
      assertThat(consumer.receive(5_000)).isNotNull();
      resource.end(xid, XAResource.TMSUCCESS);
      assertThat(resource.prepare(xid)).isEqualTo(XAResource.XA_OK);
      session.close();
      assertThat(receiveAll(connection)).isZero();
      resource.rollback(xid);
      assertThat(receiveAll(connection)).isOne();
    }
  }
}
