package io.lightmq.tck.faults;

/**
 * The round says nothing about the broker: the fault did not fire, or there was too little load.
 */
final class HarnessException extends Exception {

  HarnessException(String message) {
    super(message);
  }

  HarnessException(String message, Throwable cause) {
    super(message, cause);
  }
}
