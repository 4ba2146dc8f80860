package io.lightmq.server;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sun.misc.Signal;

/**
 * What becomes of SIGHUP: nothing. Terminals and old habits send it; the Java machine would end,
 * and a broker has nothing to read anew.
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
      Signal.handle(
          new Signal("HUP"),
          signal -> {
            log.info("SIGHUP is ignored: the configuration is read at start only");
            then.run();
          });
    } catch (IllegalArgumentException e) {
      log.debug("This system has no SIGHUP, or somebody else handles it", e);
    }
  }
}
