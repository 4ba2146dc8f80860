package io.lightmq.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sun.misc.Signal;

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

  @Test
  void itIsTakenNoteOfAndEndsNothing() throws Exception {
    assumeTrue(!isIgnored(), "a process that began with SIGHUP ignored never gets it");
    CountDownLatch came = new CountDownLatch(2);
    Hangup.ignore(came::countDown);
    Signal.raise(new Signal("HUP"));
    Signal.raise(new Signal("HUP"));
    came.await();
  }
}
