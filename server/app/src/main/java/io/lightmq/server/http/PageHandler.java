package io.lightmq.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers the requests of one connection of the admin port from its pages. */
@SuppressWarnings("FutureReturnValueIgnored") // a write that fails closes the channel
final class PageHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
  private static final Logger log = LoggerFactory.getLogger(PageHandler.class);

  private final Map<String, Page> pages;
  private final Streams streams;
  private final Hosts hosts;
  private final RequestTime time;
  private boolean streaming;

  PageHandler(Map<String, Page> pages, Streams streams, Hosts hosts, RequestTime time) {
    this.pages = pages;
    this.streams = streams;
    this.hosts = hosts;
    this.time = time;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
    if (streaming) {
      ctx.close(); // it did not wait for its answer, and answers may not mix
      return;
    }
    time.whole();
    boolean head = request.method().equals(HttpMethod.HEAD);
    boolean keep = HttpUtil.isKeepAlive(request);
    Page.Answer answer = refusal(request, head);
    String path = path(request);
    StreamPage stream = answer == null ? streams.find(path) : null;
    if (stream != null) {
      streaming = true;
      if (streams.begin(ctx, stream, request.protocolVersion(), keep, head, () -> done(ctx))) {
        return;
      }
      streaming = false;
      answer = text(503, "other requests for this page are under way; try again\n");
    }
    write(ctx, answer == null ? page(path) : answer, head, keep);
  }

  private void done(ChannelHandlerContext ctx) {
    streaming = false;
    time.answered(ctx);
  }

  private void write(ChannelHandlerContext ctx, Page.Answer answer, boolean head, boolean keep) {
    byte[] body = answer.body().getBytes(UTF_8);
    ByteBuf content = head ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(body);
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(answer.status()), content);
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, answer.contentType())
        .set(HttpHeaderNames.CONTENT_LENGTH, body.length)
        .set(HttpHeaderNames.CACHE_CONTROL, "no-store")
        .set("X-Content-Type-Options", "nosniff");
    HttpUtil.setKeepAlive(response, keep);
    var written = ctx.writeAndFlush(response);
    if (keep) {
      time.answered(ctx);
    } else {
      written.addListener(ChannelFutureListener.CLOSE);
    }
  }

  private Page.@Nullable Answer refusal(FullHttpRequest request, boolean head) {
    if (!request.decoderResult().isSuccess()) {
      return text(400, "not an HTTP request\n");
    }
    if (!hosts.isOwn(request.headers().get(HttpHeaderNames.HOST))) {
      return text(
          421,
          "this machine is not known under the name of the request; ask for it by its address, or"
              + " add the name to http.hosts in the broker's configuration\n");
    }
    if (!head && !request.method().equals(HttpMethod.GET)) {
      return text(405, "only GET and HEAD are answered here\n");
    }
    return null;
  }

  private static String path(FullHttpRequest request) {
    int query = request.uri().indexOf('?');
    return query < 0 ? request.uri() : request.uri().substring(0, query);
  }

  private Page.Answer page(String path) {
    Page page = pages.get(path);
    if (page == null) {
      TreeSet<String> all = new TreeSet<>(pages.keySet());
      streams.paths().forEach(all::add);
      return text(404, "there are: " + String.join(" ", all) + "\n");
    }
    try {
      return page.answer();
    } catch (RuntimeException e) {
      log.error("Page {} failed", path, e);
      return text(500, "this page failed; the broker's log has the reason\n");
    }
  }

  private static Page.Answer text(int status, String body) {
    return new Page.Answer(status, Page.TEXT, body);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    log.debug("Closing HTTP connection from {}", ctx.channel().remoteAddress(), cause);
    ctx.close();
  }
}
