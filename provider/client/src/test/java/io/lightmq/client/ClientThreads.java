package io.lightmq.client;

import java.util.List;

/** The threads that the client has started and that are still alive. */
final class ClientThreads {
  private ClientThreads() {}

  static List<String> alive() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(
            name ->
                name.startsWith("link-")
                    || name.startsWith("session-")
                    || name.startsWith("connection-")
                    || name.startsWith("globalEventExecutor"))
        .sorted()
        .toList();
  }
}
