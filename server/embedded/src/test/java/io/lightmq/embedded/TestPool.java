package io.lightmq.embedded;

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.ServerSession;
import jakarta.jms.ServerSessionPool;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** An application server's pool: sessions with a listener, run on threads of its own. */
final class TestPool implements ServerSessionPool, AutoCloseable {
  /** What an application does with a message. */
  interface Work {
    void onMessage(Session session, Message message) throws JMSException;
  }

  private final BlockingQueue<ServerSession> free = new LinkedBlockingQueue<>();
  private final List<Session> sessions = new ArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  final AtomicInteger asked = new AtomicInteger();
  final AtomicInteger startsThatFail = new AtomicInteger();
  final AtomicInteger asksThatFail = new AtomicInteger();

  TestPool(Connection connection, int size, int mode, Work work) throws JMSException {
    for (int i = 0; i < size; i++) {
      Session session = connection.createSession(mode);
      session.setMessageListener(
          message -> {
            try {
              work.onMessage(session, message);
            } catch (JMSException e) {
              throw new IllegalStateException(e);
            }
          });
      add(session);
    }
  }

  void add(Session session) {
    sessions.add(session);
    free.add(
        new ServerSession() {
          @Override
          public Session getSession() {
            return session;
          }

          @Override
          public void start() throws JMSException {
            if (startsThatFail.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
              free.add(this);
              throw new JMSException("no thread is free");
            }
            ServerSession own = this;
            threads.execute(
                () -> {
                  session.run();
                  free.add(own);
                });
          }
        });
  }

  List<Session> sessions() {
    return sessions;
  }

  int free() {
    return free.size();
  }

  @Override
  public ServerSession getServerSession() throws JMSException {
    asked.incrementAndGet();
    if (asksThatFail.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      throw new JMSException("the pool is being changed");
    }
    try {
      return free.take();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new JMSException("interrupted");
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
