package io.lightmq.server;

import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of SIGHUP: nothing. Terminals and old habits send it; the Java machine would end,
 * and a broker has nothing to read anew.
 *
 * <p>Only {@code sun.misc.Signal} knows of signals. It is looked up by its name, since a class that
 * names it cannot be compiled without a warning.
 */
final class Hangup {
  private static final Logger log = LoggerFactory.getLogger(Hangup.class);

  private Hangup() {}

  /**
   * Ignores SIGHUP from now on.
   *
   * @param then runs each time that one came
   */
  static void ignore(Runnable then) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object ignoring =
          Proxy.newProxyInstance(
              Hangup.class.getClassLoader(),
              new Class<?>[] {handler},
              (proxy, method, arguments) -> {
                if (method.getDeclaringClass() != handler) {
                  return method.invoke(then, arguments); // of Object
                }
                log.info("SIGHUP is ignored: the configuration is read at start only");
                then.run();
                return null;
              });
      signal
          .getMethod("handle", signal, handler)
          .invoke(null, signal.getConstructor(String.class).newInstance("HUP"), ignoring);
    } catch (ReflectiveOperationException e) {
      log.debug("This system has no SIGHUP, or somebody else handles it", e);
    }
  }
}
