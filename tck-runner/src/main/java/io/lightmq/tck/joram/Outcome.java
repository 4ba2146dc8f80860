package io.lightmq.tck.joram;

import org.jspecify.annotations.Nullable;

/**
 * How one conformance test ended.
 *
 * @param test its name: package behind {@code conform}, class, {@code #}, method
 * @param failure why it failed, null if it passed
 * @param millis how long it took
 */
record Outcome(String test, @Nullable String failure, long millis) {

  boolean passed() {
    return failure == null;
  }
}
