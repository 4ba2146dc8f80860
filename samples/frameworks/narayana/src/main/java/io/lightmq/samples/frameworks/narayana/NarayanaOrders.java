package io.lightmq.samples.frameworks.narayana;

import com.arjuna.ats.arjuna.common.CoreEnvironmentBean;
import com.arjuna.ats.arjuna.common.ObjectStoreEnvironmentBean;
import com.arjuna.ats.arjuna.common.RecoveryEnvironmentBean;
import com.arjuna.ats.arjuna.recovery.RecoveryManager;
import com.arjuna.ats.arjuna.recovery.RecoveryModule;
import com.arjuna.ats.internal.jta.recovery.arjunacore.JTAActionStatusServiceXAResourceOrphanFilter;
import com.arjuna.ats.internal.jta.recovery.arjunacore.JTANodeNameXAResourceOrphanFilter;
import com.arjuna.ats.internal.jta.recovery.arjunacore.JTATransactionLogXAResourceOrphanFilter;
import com.arjuna.ats.internal.jta.recovery.arjunacore.XARecoveryModule;
import com.arjuna.ats.jta.common.JTAEnvironmentBean;
import com.arjuna.ats.jta.recovery.XAResourceRecoveryHelper;
import com.arjuna.common.internal.util.propertyservice.BeanPopulator;
import io.lightmq.samples.frameworks.orders.Orders;
import io.lightmq.samples.frameworks.orders.Stack;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.XASession;
import jakarta.transaction.Transaction;
import jakarta.transaction.TransactionManager;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.XAConnection;
import javax.sql.XADataSource;
import javax.transaction.xa.XAResource;
import org.jboss.narayana.jta.jms.JmsXAResourceRecoveryHelper;

/** Narayana as an application sets it up that has no server around it. */
public final class NarayanaOrders implements Stack {
  /** Unique among all that use one broker or database: recovery touches no other node's. */
  private static final String NODE = "orders1";

  private static final int ORPHAN_MILLIS = 3_000;

  private final Parts parts;
  private final TransactionManager manager;
  private final jakarta.jms.XAConnection messages;

  private NarayanaOrders(Parts parts) throws Exception {
    this.parts = parts;
    configure();
    RecoveryManager recovery = RecoveryManager.manager(RecoveryManager.INDIRECT_MANAGEMENT);
    recovery.initialize();
    for (RecoveryModule module : recovery.getModules()) {
      if (module instanceof XARecoveryModule resources) {
        resources.addXAResourceRecoveryHelper(new JmsXAResourceRecoveryHelper(parts.messages()));
        resources.addXAResourceRecoveryHelper(new DatabaseRecovery(parts.database()));
      }
    }
    recovery.startRecoveryManagerThread();
    this.manager = com.arjuna.ats.jta.TransactionManager.transactionManager();
    this.messages = parts.messages().createXAConnection();
    messages.start();
  }

  private void configure() throws Exception {
    for (String store : new String[] {null, "communicationStore", "stateStore"}) {
      ObjectStoreEnvironmentBean bean =
          store == null
              ? BeanPopulator.getDefaultInstance(ObjectStoreEnvironmentBean.class)
              : BeanPopulator.getNamedInstance(ObjectStoreEnvironmentBean.class, store);
      bean.setObjectStoreDir(parts.log().toString());
    }
    BeanPopulator.getDefaultInstance(CoreEnvironmentBean.class).setNodeIdentifier(NODE);
    JTAEnvironmentBean jta = BeanPopulator.getDefaultInstance(JTAEnvironmentBean.class);
    jta.setXaRecoveryNodes(List.of(NODE));
    // A branch without a record in the log is rolled back, unless its transaction is under way.
    jta.setXaResourceOrphanFilterClassNames(
        List.of(
            JTATransactionLogXAResourceOrphanFilter.class.getName(),
            JTANodeNameXAResourceOrphanFilter.class.getName(),
            JTAActionStatusServiceXAResourceOrphanFilter.class.getName()));
    jta.setOrphanSafetyInterval(ORPHAN_MILLIS);
    jta.setXaAssumeRecoveryComplete(true);
    RecoveryEnvironmentBean recovery =
        BeanPopulator.getDefaultInstance(RecoveryEnvironmentBean.class);
    recovery.setRecoveryModuleClassNames(
        List.of(
            "com.arjuna.ats.internal.arjuna.recovery.AtomicActionRecoveryModule",
            XARecoveryModule.class.getName()));
    recovery.setRecoveryListener(false);
    recovery.setPeriodicRecoveryInitilizationOffset(0);
    recovery.setPeriodicRecoveryPeriod(1);
    recovery.setRecoveryBackoffPeriod(1);
  }

  /** A fresh connection for each scan, since one may have died with its server. */
  private static final class DatabaseRecovery implements XAResourceRecoveryHelper {
    private final XADataSource source;
    private XAConnection last;

    DatabaseRecovery(XADataSource source) {
      this.source = source;
    }

    @Override
    public boolean initialise(String unused) {
      return true;
    }

    @Override
    public synchronized XAResource[] getXAResources() throws Exception {
      if (last != null) {
        try {
          last.close();
        } catch (SQLException e) {
          // It died with its server.
        }
        last = null;
      }
      last = source.getXAConnection();
      return new XAResource[] {last.getXAResource()};
    }
  }

  @Override
  public TransactionManager manager() {
    return manager;
  }

  @Override
  public Desk open() throws Exception {
    XAConnection database = parts.database().getXAConnection();
    try {
      return new NarayanaDesk(database, messages.createXASession());
    } catch (JMSException | SQLException e) {
      database.close();
      throw e;
    }
  }

  private final class NarayanaDesk implements Desk {
    private final XAConnection database;
    private final XASession session;
    private final MessageConsumer consumer;
    private final Connection connection;

    /** The connection is had before any transaction begins: H2 resets what it hands out. */
    NarayanaDesk(XAConnection database, XASession session) throws JMSException, SQLException {
      this.database = database;
      this.connection = database.getConnection();
      this.session = session;
      this.consumer = session.createConsumer(session.createQueue("orders.in"));
    }

    @Override
    public void begun(boolean databaseFirst) throws Exception {
      Transaction transaction = manager.getTransaction();
      XAResource[] both = {session.getXAResource(), database.getXAResource()};
      for (int i = 0; i < both.length; i++) {
        if (!transaction.enlistResource(both[databaseFirst ? 1 - i : i])) {
          throw new IllegalStateException("a resource is not taken into the transaction");
        }
      }
    }

    @Override
    public Session session() {
      return session;
    }

    @Override
    public MessageConsumer consumer() {
      return consumer;
    }

    @Override
    public Connection database() {
      return connection;
    }

    @Override
    public void ended() {}

    @Override
    public void close() throws Exception {
      try {
        session.close();
      } finally {
        database.close();
      }
    }
  }

  @Override
  public void close() throws Exception {
    messages.close();
  }

  public static void main(String[] arguments) throws Exception {
    Orders.main(NarayanaOrders.class, arguments, NarayanaOrders::new);
  }
}
