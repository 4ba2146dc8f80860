package io.lightmq.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AdminHttpTest {
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final HttpClient client = HttpClient.newHttpClient();
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
        Map.of(
            "/healthz", () -> new Page.Answer(200, Page.TEXT, "ok\n"),
            "/readyz", () -> new Page.Answer(503, Page.TEXT, "closing\n"),
            "/broken",
                () -> {
                  throw new IllegalStateException("on purpose");
                }));
  }

  @AfterEach
  void stop() {
    http.close();
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
}
