package io.lightmq.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler.Sharable;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers requests of the admin port from its pages. */
@Sharable
@SuppressWarnings("FutureReturnValueIgnored") // a write that fails closes the channel
final class PageHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
  private static final Logger log = LoggerFactory.getLogger(PageHandler.class);

  private final Map<String, Page> pages;

  PageHandler(Map<String, Page> pages) {
    this.pages = pages;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
    boolean head = request.method().equals(HttpMethod.HEAD);
    Page.Answer answer = answer(request, head);
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
    boolean keep = HttpUtil.isKeepAlive(request);
    HttpUtil.setKeepAlive(response, keep);
    var written = ctx.writeAndFlush(response);
    if (!keep) {
      written.addListener(ChannelFutureListener.CLOSE);
    }
  }

  private Page.Answer answer(FullHttpRequest request, boolean head) {
    if (!request.decoderResult().isSuccess()) {
      return text(400, "not an HTTP request\n");
    }
    if (!head && !request.method().equals(HttpMethod.GET)) {
      return text(405, "only GET and HEAD are answered here\n");
    }
    String path = request.uri();
    int query = path.indexOf('?');
    Page page = pages.get(query < 0 ? path : path.substring(0, query));
    if (page == null) {
      return text(
          404, "there are: " + String.join(" ", pages.keySet().stream().sorted().toList()) + "\n");
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
