package io.lightmq.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes long pages piece by piece, so that none is ever in memory as a whole. They are written one
 * after the other; {@link #MAX_WAITING} may wait, more are told to come again. Who takes longer
 * than {@link #PAGE_SECONDS} for one loses it, so that nobody keeps the others waiting by reading
 * slowly.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write that fails closes the channel
final class Streams {
  private static final Logger log = LoggerFactory.getLogger(Streams.class);
  private static final int CHUNK_CHARS = 16 << 10;

  /** Requests for long pages that may wait or be under way. */
  static final int MAX_WAITING = 4;

  /** A page takes so long at most, however steadily it is read. */
  static final int PAGE_SECONDS = 30;

  private final Map<String, StreamPage> pages;
  private final Executor writers;
  private final int writeMillis;
  private final LongSupplier nanoTime;
  private final AtomicInteger waiting = new AtomicInteger();

  Streams(Map<String, StreamPage> pages, Executor writers, int writeMillis, LongSupplier nanoTime) {
    this.pages = pages;
    this.writers = writers;
    this.writeMillis = writeMillis;
    this.nanoTime = nanoTime;
  }

  @Nullable StreamPage find(String path) {
    return pages.get(path);
  }

  /** Requests that wait or are under way. */
  int waiting() {
    return waiting.get();
  }

  /** The paths of all pages. */
  Iterable<String> paths() {
    return pages.keySet();
  }

  /**
   * Begins to write a page; false if too many wait.
   *
   * @param then runs on the event loop when it is written; not if that failed
   */
  boolean begin(
      ChannelHandlerContext ctx,
      StreamPage page,
      HttpVersion version,
      boolean keep,
      boolean head,
      Runnable then) {
    if (waiting.incrementAndGet() > MAX_WAITING) {
      waiting.decrementAndGet();
      return false;
    }
    try {
      writers.execute(
          () -> {
            try {
              write(ctx, page, version, keep, head, then);
            } finally {
              waiting.decrementAndGet();
            }
          });
      return true;
    } catch (RejectedExecutionException e) {
      waiting.decrementAndGet();
      return false;
    }
  }

  private void write(
      ChannelHandlerContext ctx,
      StreamPage page,
      HttpVersion version,
      boolean keep,
      boolean head,
      Runnable then) {
    boolean chunked = version.equals(HttpVersion.HTTP_1_1);
    boolean keeps = keep && (chunked || head);
    HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, page.contentType())
        .set(HttpHeaderNames.CACHE_CONTROL, "no-store")
        .set("X-Content-Type-Options", "nosniff");
    if (chunked && !head) {
      response.headers().set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
    }
    HttpUtil.setKeepAlive(response, keeps);
    Chunks chunks = new Chunks(ctx);
    try {
      chunks.await(ctx.writeAndFlush(response));
      if (!head) {
        page.write(chunks);
        chunks.flush();
      }
      ChannelFuture last = ctx.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
      chunks.await(last);
      if (keeps) {
        ctx.executor().execute(then);
      } else {
        last.addListener(ChannelFutureListener.CLOSE);
      }
    } catch (IOException e) {
      log.debug("A page was not read to its end by {}", ctx.channel().remoteAddress(), e);
      ctx.close();
    } catch (RuntimeException e) {
      log.error("A page failed", e);
      ctx.close();
    }
  }

  /** Collects text and sends it in pieces; waits until each has left. */
  private final class Chunks implements Appendable {
    private final ChannelHandlerContext ctx;
    private final long begunNanos = nanoTime.getAsLong();
    private final StringBuilder text = new StringBuilder(CHUNK_CHARS + 1024);

    Chunks(ChannelHandlerContext ctx) {
      this.ctx = ctx;
    }

    @Override
    public Appendable append(CharSequence more) throws IOException {
      text.append(more);
      return flushed();
    }

    @Override
    public Appendable append(CharSequence more, int from, int to) throws IOException {
      text.append(more, from, to);
      return flushed();
    }

    @Override
    public Appendable append(char more) throws IOException {
      text.append(more);
      return flushed();
    }

    private Appendable flushed() throws IOException {
      if (text.length() >= CHUNK_CHARS) {
        flush();
      }
      return this;
    }

    void flush() throws IOException {
      if (text.isEmpty()) {
        return;
      }
      ByteBuf bytes = Unpooled.buffer(ByteBufUtil.utf8MaxBytes(text));
      bytes.writeCharSequence(text, UTF_8);
      text.setLength(0);
      await(ctx.writeAndFlush(new DefaultHttpContent(bytes)));
    }

    void await(ChannelFuture written) throws IOException {
      try {
        long left = TimeUnit.SECONDS.toNanos(PAGE_SECONDS) - (nanoTime.getAsLong() - begunNanos);
        if (left <= 0) {
          throw new IOException("the page was not read within " + PAGE_SECONDS + " s");
        }
        long most = Math.min(left, TimeUnit.MILLISECONDS.toNanos(writeMillis));
        if (!written.await(most, TimeUnit.NANOSECONDS)) {
          throw new IOException(
              "nothing was read for " + TimeUnit.NANOSECONDS.toMillis(most) + " ms");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
      if (!written.isSuccess()) {
        throw new IOException("the connection was lost", written.cause());
      }
    }
  }
}
