package io.lightmq.core.runtime;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What happens when a task threw something that nobody expected: state may be half changed, so the
 * loop never goes on after it.
 */
public interface FatalHandler {

  /** Exit code of a process that a loop has ended. */
  int EXIT_CODE = 70;

  /** Called on the loop's thread, which ends when this returns. */
  void fatal(String loopName, Throwable cause);

  /** Logs and halts the process at once, without shutdown hooks. */
  static FatalHandler halt() {
    return (loopName, cause) -> {
      try {
        Logger log = LoggerFactory.getLogger(FatalHandler.class);
        log.error(
            "Loop {} died of an unexpected error; halting with code {}",
            loopName,
            EXIT_CODE,
            cause);
      } finally {
        Runtime.getRuntime().halt(EXIT_CODE);
      }
    };
  }
}
