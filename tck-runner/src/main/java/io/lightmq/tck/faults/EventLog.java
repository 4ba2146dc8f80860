package io.lightmq.tck.faults;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/**
 * A file beside the broker's log that says what clients and harness saw, for the search of causes.
 */
final class EventLog implements AutoCloseable {

  private final PrintWriter out;

  EventLog(Path file) throws IOException {
    out = new PrintWriter(Files.newBufferedWriter(file), true);
  }

  synchronized void note(String format, Object... arguments) {
    out.println(Instant.now() + " " + format.formatted(arguments));
  }

  @Override
  public synchronized void close() {
    out.close();
  }
}
