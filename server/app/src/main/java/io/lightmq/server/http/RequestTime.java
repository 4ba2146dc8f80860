package io.lightmq.server.http;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection whose request is not whole in time, however steadily its bytes drip in, and
 * one that is silent for too long between two requests. Stands in front of the decoder.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what is closed tells nobody
final class RequestTime extends ChannelInboundHandlerAdapter {
  private final HttpSettings settings;
  private final Seats seats;
  private @Nullable ScheduledFuture<?> deadline;
  private boolean idle;

  RequestTime(HttpSettings settings, Seats seats) {
    this.settings = settings;
    this.seats = seats;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    begin(ctx, settings.requestMillis());
    ctx.fireChannelActive();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (idle) {
      idle = false;
      begin(ctx, settings.requestMillis());
    }
    ctx.fireChannelRead(message);
  }

  /** A request is whole. */
  void whole() {
    idle = false;
    cancel();
  }

  /** Its answer is on its way; the next request may come. */
  void answered(ChannelHandlerContext ctx) {
    idle = true;
    begin(ctx, settings.idleMillis());
  }

  private void begin(ChannelHandlerContext ctx, int millis) {
    cancel();
    deadline =
        ctx.executor()
            .schedule(
                () -> {
                  seats.late();
                  ctx.close();
                },
                millis,
                TimeUnit.MILLISECONDS);
  }

  private void cancel() {
    ScheduledFuture<?> known = deadline;
    if (known != null) {
      known.cancel(false);
      deadline = null;
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    cancel();
    ctx.fireChannelInactive();
  }
}
