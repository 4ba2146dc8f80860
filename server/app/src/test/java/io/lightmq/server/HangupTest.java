package io.lightmq.server;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sun.misc.Signal;

@Timeout(30)
class HangupTest {
  @Test
  void itIsTakenNoteOfAndEndsNothing() throws Exception {
    CountDownLatch came = new CountDownLatch(2);
    Hangup.ignore(came::countDown);
    Signal.raise(new Signal("HUP"));
    Signal.raise(new Signal("HUP"));
    came.await();
  }
}
