package io.lightmq.tck.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The attackers, shown a broker that holds on to its connections. */
class HostileClientsTest {

  private static final Recording RECORDING =
      new Recording(frames(new FrameBytes(16, 0).done()), frames(new FrameBytes(16, 0).done()));

  @Test
  void aBrokerThatDoesNotAnswerIsFound() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        HostileClients clients = new HostileClients(silent.getLocalPort(), RECORDING, 1, 50)) {
      clients.start(2);
      clients.allow(100);
      await().until(() -> !clients.findings().isEmpty());
      assertThat(clients.findings().get(0)).contains("hung for 50 ms").contains("it had sent 00");
    }
  }

  private static List<byte[]> frames(byte[] frame) {
    return Collections.nCopies(20, frame);
  }
}
