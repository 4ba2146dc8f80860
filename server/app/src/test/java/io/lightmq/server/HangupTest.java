package io.lightmq.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class HangupTest {
  private static final int HUP = 1;

  /** Whether the process was started so that it never gets the signal, as nohup does. */
  private static boolean isIgnored() throws Exception {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("SigIgn:")) {
        return (Long.parseUnsignedLong(line.substring(7).trim(), 16) & (1L << (HUP - 1))) != 0;
      }
    }
    return false;
  }

  private static void hangUp() throws Exception {
    String own = Long.toString(ProcessHandle.current().pid());
    new ProcessBuilder("kill", "-HUP", own).inheritIO().start().waitFor();
  }

  @Test
  void itIsTakenNoteOfAndEndsNothing() throws Exception {
    assumeTrue(!isIgnored(), "a process that began with SIGHUP ignored never gets it");
    Semaphore came = new Semaphore(0);
    Hangup.ignore(came::release);
    hangUp();
    came.acquire();
    hangUp();
    came.acquire();
  }
}
