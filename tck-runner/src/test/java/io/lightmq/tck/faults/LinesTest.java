package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Lines that break, and what is left of the words that were on them. */
class LinesTest {
  private static final int LONG_ENOUGH_MILLIS = 200;

  private ServerSocket broker;
  private RelayedLines lines;
  private Socket client;
  private Socket accepted;

  @BeforeEach
  void connect() throws IOException {
    broker = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    lines = new RelayedLines(2, broker.getLocalPort());
    client = new Socket(InetAddress.getLoopbackAddress(), lines.port(1));
    accepted = broker.accept();
    client.setSoTimeout(10_000);
    accepted.setSoTimeout(10_000);
    passes(client, accepted); // the line knows of the connection now
  }

  @AfterEach
  void close() throws IOException {
    lines.close();
    client.close();
    accepted.close();
    broker.close();
  }

  private static void passes(Socket from, Socket to) throws IOException {
    from.getOutputStream().write(7);
    assertThat(to.getInputStream().read()).isEqualTo(7);
  }

  private static void isSilent(Socket socket) throws IOException {
    socket.setSoTimeout(LONG_ENOUGH_MILLIS);
    assertThatThrownBy(() -> socket.getInputStream().read())
        .isInstanceOf(SocketTimeoutException.class);
    socket.setSoTimeout(10_000);
  }

  @Test
  void whatIsHeldInOneDirectionArrivesLate() throws Exception {
    passes(client, accepted);
    lines.silence(1, true, false);
    client.getOutputStream().write(1);
    isSilent(accepted);
    passes(accepted, client);
    assertThat(lines.heal(1)).isTrue();
    assertThat(accepted.getInputStream().read()).isEqualTo(1);
    passes(client, accepted);
  }

  @Test
  void aFaultThatHitsNothingSaysSo() throws Exception {
    lines.silence(1, true, true);
    assertThat(lines.heal(1)).isFalse();
    lines.reset(0);
    assertThat(lines.heal(0)).isFalse();
    passes(client, accepted);
  }

  @Test
  void aResetEndsBothSidesAndTheNextConnectionIsWell() throws Exception {
    lines.reset(1);
    assertThat(lines.heal(1)).isTrue();
    assertThatThrownBy(
            () -> {
              if (client.getInputStream().read() < 0) {
                throw new IOException("ended");
              }
            })
        .isInstanceOf(IOException.class);
    try (Socket next = new Socket(InetAddress.getLoopbackAddress(), lines.port(1));
        Socket there = broker.accept()) {
      there.setSoTimeout(10_000);
      passes(next, there);
    }
  }

  @Test
  void packetsAreFilteredInANetworkOfItsOwnOnly() {
    assertThatThrownBy(() -> new FilteredLines(List.of(1)))
        .isInstanceOf(HarnessException.class)
        .hasMessageContaining("namespace");
  }

  @Test
  void theVerdictOfARunElsewhereIsItsLastLine() {
    Verdict verdict = new Verdict(3, 12, 4_711, 1);
    assertThat(OwnNetwork.verdict(verdict.line())).isEqualTo(verdict);
    assertThat(OwnNetwork.verdict("round 1: 3 inputs")).isNull();
  }
}
