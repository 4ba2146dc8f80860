package io.lightmq.samples.frameworks.orders;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.XAConnection;
import javax.sql.XADataSource;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;

/**
 * A place in a transaction where the process ends, or waits while something is done to another one:
 * for example {@code halt before messages commit}, or {@code wait after database prepare}. The
 * first time only.
 */
final class StopPoint {
  /** What it says when it waits, until there is a line on its input. */
  static final String WAITS = "waits";

  /** The exit code of a process that has ended here. */
  static final int HALTED = 99;

  private final boolean halts;
  private final boolean before;
  private final String resource;
  private final String call;
  private final AtomicBoolean passed = new AtomicBoolean();

  StopPoint(String text) {
    String[] words = text.split(" ");
    this.halts = words[0].equals("halt");
    this.before = words[1].equals("before");
    this.resource = words[2];
    this.call = words[3];
  }

  /** Looks at all calls to a resource that come through a factory. */
  <T> T in(String name, Class<T> type, T factory) {
    return type.cast(proxy(name, factory, type));
  }

  private Object proxy(String name, Object target, Class<?>... types) {
    return Proxy.newProxyInstance(
        StopPoint.class.getClassLoader(), types, new Looking(name, target));
  }

  private final class Looking implements InvocationHandler {
    private final String name;
    private final Object target;

    Looking(String name, Object target) {
      this.name = name;
      this.target = target;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
      if (method.getName().equals("equals")) {
        return proxy == arguments[0];
      }
      Object result;
      try {
        result = method.invoke(target, arguments);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
      if (method.getName().equals("getXAResource") && result instanceof XAResource made) {
        return name.equals(resource) ? new Stopping(made) : made;
      }
      return isLookedAt(result) ? proxy(name, result, interfacesOf(result.getClass())) : result;
    }
  }

  private static boolean isLookedAt(Object result) {
    return result instanceof XAConnection
        || result instanceof XADataSource
        || result instanceof jakarta.jms.XAConnection
        || result instanceof jakarta.jms.XASession;
  }

  private static Class<?>[] interfacesOf(Class<?> type) {
    Set<Class<?>> all = new LinkedHashSet<>();
    for (Class<?> at = type; at != null; at = at.getSuperclass()) {
      for (Class<?> each : at.getInterfaces()) {
        if (Modifier.isPublic(each.getModifiers())) {
          all.add(each);
        }
      }
    }
    return all.toArray(new Class<?>[0]);
  }

  /** No proxy of Java's: those are serializable, and a transaction manager may try that. */
  private final class Stopping implements XAResource {
    private final XAResource target;

    Stopping(XAResource target) {
      this.target = target;
    }

    @Override
    public void start(Xid xid, int flags) throws XAException {
      target.start(xid, flags);
    }

    @Override
    public void end(Xid xid, int flags) throws XAException {
      target.end(xid, flags);
    }

    @Override
    public int prepare(Xid xid) throws XAException {
      stopIf(before && call.equals("prepare"));
      int vote = target.prepare(xid);
      stopIf(!before && call.equals("prepare"));
      return vote;
    }

    @Override
    public void commit(Xid xid, boolean onePhase) throws XAException {
      stopIf(before && call.equals("commit"));
      target.commit(xid, onePhase);
      stopIf(!before && call.equals("commit"));
    }

    @Override
    public void rollback(Xid xid) throws XAException {
      target.rollback(xid);
    }

    @Override
    public void forget(Xid xid) throws XAException {
      target.forget(xid);
    }

    @Override
    public Xid[] recover(int flags) throws XAException {
      return target.recover(flags);
    }

    @Override
    public boolean isSameRM(XAResource other) throws XAException {
      return target.isSameRM(other instanceof Stopping stopping ? stopping.target : other);
    }

    @Override
    public int getTransactionTimeout() throws XAException {
      return target.getTransactionTimeout();
    }

    @Override
    public boolean setTransactionTimeout(int seconds) throws XAException {
      return target.setTransactionTimeout(seconds);
    }
  }

  private void stopIf(boolean here) {
    if (!here || passed.getAndSet(true)) {
      return;
    }
    if (halts) {
      Runtime.getRuntime().halt(HALTED);
    }
    System.out.println(WAITS);
    try {
      while (System.in.read() != '\n') {
        // The other side does what it has to.
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
