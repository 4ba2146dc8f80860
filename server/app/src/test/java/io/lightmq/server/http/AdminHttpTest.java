package io.lightmq.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdminHttpTest {
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final HttpClient client = HttpClient.newHttpClient();
  private final ExecutorService writers = Executors.newSingleThreadExecutor();
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private int lines = 3;

  private final StreamPage stream =
      new StreamPage() {
        @Override
        public String contentType() {
          return Page.TEXT;
        }

        @Override
        public void write(Appendable out) throws IOException {
          begun.countDown();
          if (lines < 0) {
            try {
              goOn.await();
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
          }
          for (int i = 0; i < Math.abs(lines); i++) {
            out.append("line ").append(String.valueOf(i)).append('\n');
          }
        }
      };

  private AdminHttp http;

  @BeforeEach
  void start() throws IOException {
    http = start(0);
  }

  private AdminHttp start(int port) throws IOException {
    return AdminHttp.start(
        group,
        NioServerSocketChannel.class,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
        new HttpSettings(8, 4, 300, 60_000, 300, List.of("metrics.example.com")),
        Map.of(
            "/healthz", () -> new Page.Answer(200, Page.TEXT, "ok\n"),
            "/readyz", () -> new Page.Answer(503, Page.TEXT, "closing\n"),
            "/broken",
                () -> {
                  throw new IllegalStateException("on purpose");
                }),
        Map.of("/metrics", stream),
        writers);
  }

  @AfterEach
  void stop() {
    goOn.countDown();
    http.close();
    writers.shutdownNow();
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private HttpResponse<String> ask(String method, String path) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + http.address().getPort() + path);
    return client.send(
        HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody()).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void pagesAnswerWithTheirStatus() throws Exception {
    assertThat(ask("GET", "/healthz").body()).isEqualTo("ok\n");
    assertThat(ask("GET", "/healthz?verbose=1").statusCode()).isEqualTo(200);
    assertThat(ask("GET", "/readyz").statusCode()).isEqualTo(503);
  }

  @Test
  void headHasLengthAndNoBody() throws Exception {
    HttpResponse<String> head = ask("HEAD", "/healthz");
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(head.headers().firstValue("content-length")).hasValue("3");
    assertThat(head.body()).isEmpty();
  }

  @Test
  void otherMethodsAndPathsAreRefused() throws Exception {
    assertThat(ask("POST", "/healthz").statusCode()).isEqualTo(405);
    HttpResponse<String> unknown = ask("GET", "/admin");
    assertThat(unknown.statusCode()).isEqualTo(404);
    assertThat(unknown.body()).contains("/healthz").contains("/readyz");
  }

  @Test
  void aBrokenPageDoesNotShowItsReason() throws Exception {
    HttpResponse<String> broken = ask("GET", "/broken");
    assertThat(broken.statusCode()).isEqualTo(500);
    assertThat(broken.body()).doesNotContain("on purpose");
  }

  @Test
  void aTakenPortIsAnErrorThatNamesIt() {
    int port = http.address().getPort();
    assertThatThrownBy(() -> start(port))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(String.valueOf(port));
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), http.address().getPort());
    socket.setSoTimeout(20_000);
    return socket;
  }

  private static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().flush();
  }

  private static String first(Socket socket) throws IOException {
    BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
    return String.valueOf(reader.readLine());
  }

  @Test
  void aLongPageComesInPieces() throws Exception {
    lines = 50_000;
    HttpResponse<String> page = ask("GET", "/metrics");
    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(page.body()).startsWith("line 0\n").endsWith("line 49999\n");
    assertThat(page.headers().firstValue("transfer-encoding")).hasValue("chunked");
    assertThat(ask("GET", "/metrics").body().lines().count()).isEqualTo(50_000);
    assertThat(ask("HEAD", "/metrics").body()).isEmpty();
    try (Socket old = connect()) {
      write(old, "GET /metrics HTTP/1.0\r\n\r\n");
      String all = new String(old.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      assertThat(all).endsWith("line 49999\n").doesNotContain("chunked");
    }
  }

  @Test
  void healthIsAnsweredWhileALongPageIsStuck() throws Exception {
    lines = -3;
    CompletableFuture<HttpResponse<String>> stuck =
        client.sendAsync(
            HttpRequest.newBuilder(
                    URI.create("http://127.0.0.1:" + http.address().getPort() + "/metrics"))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    begun.await();
    assertThat(ask("GET", "/healthz").body()).isEqualTo("ok\n");
    goOn.countDown();
    assertThat(stuck.get().body()).isEqualTo("line 0\nline 1\nline 2\n");
  }

  @Test
  void onlySomeRequestsForALongPageWait() throws Exception {
    lines = -3;
    List<Socket> all = new ArrayList<>();
    for (int i = 0; i < Streams.MAX_WAITING; i++) {
      all.add(connect());
      write(all.get(i), "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    begun.await();
    // The last may be decided before the first ones; whoever is, one of five is refused.
    try (Socket more = new Socket()) {
      more.bind(new InetSocketAddress("127.0.0.2", 0));
      more.connect(http.address());
      more.setSoTimeout(20_000);
      await().until(() -> waiting() == Streams.MAX_WAITING);
      write(more, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
      assertThat(first(more)).contains("503");
    }
    goOn.countDown();
    for (Socket each : all) {
      assertThat(first(each)).contains("200");
      each.close();
    }
  }

  private int waiting() {
    return http.waiting();
  }

  private static boolean isClosedAfterOneMoreByte(Socket socket) {
    try {
      write(socket, "G");
      return false;
    } catch (IOException closed) {
      return true;
    }
  }

  @Test
  void aRequestThatDripsInIsClosedInTime() throws Exception {
    try (Socket slow = connect()) {
      await().pollInterval(Duration.ofMillis(2)).until(() -> isClosedAfterOneMoreByte(slow));
    }
    try (Socket silent = connect()) {
      assertThat(silent.getInputStream().read()).isEqualTo(-1);
    }
    assertThat(http.refused()).isEqualTo(2);
  }

  @Test
  void aFloodPushesOutItsOwnConnections() throws Exception {
    List<Socket> flood = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      flood.add(connect());
    }
    assertThat(flood.get(0).getInputStream().read()).isEqualTo(-1);
    assertThat(ask("GET", "/healthz").statusCode()).isEqualTo(200);
    assertThat(http.count()).isLessThanOrEqualTo(4);
    assertThat(http.refused()).isGreaterThanOrEqualTo(16);
    for (Socket each : flood) {
      each.close();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1:7655, 200",
    "localhost, 200",
    "LOCALHOST:7655, 200",
    "[::1]:7655, 200",
    "10.1.2.3, 200",
    "metrics.example.com:1, 200",
    "evil.example.com, 421",
    "evil.example.com:7655, 421",
    "127.0.0.1.evil.example.com, 421",
  })
  void onlyOwnNamesAreAnswered(String host, int status) throws Exception {
    try (Socket socket = connect()) {
      write(socket, "GET /healthz HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
      assertThat(first(socket)).contains(" " + status + " ");
    }
  }
}
