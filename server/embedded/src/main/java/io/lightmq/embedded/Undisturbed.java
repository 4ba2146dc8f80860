package io.lightmq.embedded;

import io.lightmq.client.link.Uninterrupted;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Work on files that no interrupt of the application's thread disturbs: an interrupt closes the
 * file that its thread is in, and a broker that is being opened or closed would fail for it. The
 * work has a thread of its own, whose end is waited for.
 */
final class Undisturbed {
  private Undisturbed() {}

  /** What is done. */
  interface Work<T> {
    T run() throws IOException;
  }

  /** Does it on a thread of a name, and returns or throws what it does. Blocks. */
  static <T> T call(String threadName, Work<T> work) throws IOException {
    CompletableFuture<T> done = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                done.complete(work.run());
              } catch (Throwable thrown) { // it is thrown on where somebody waits
                done.completeExceptionally(thrown);
              }
            },
            threadName);
    thread.setDaemon(true);
    thread.start();
    Uninterrupted.join(thread);
    try {
      return Uninterrupted.get(done);
    } catch (ExecutionException e) {
      Throwable thrown = e.getCause();
      if (thrown instanceof IOException failure) {
        throw failure;
      } else if (thrown instanceof RuntimeException failure) {
        throw failure;
      } else if (thrown instanceof Error error) {
        throw error;
      }
      throw new IOException(e);
    }
  }
}
