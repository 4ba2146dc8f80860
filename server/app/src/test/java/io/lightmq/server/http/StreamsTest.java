package io.lightmq.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StreamsTest {
  private static final int CHUNKS = 20;

  private long now = -7;
  private int written;
  private int thenRuns;

  /** Reads as slowly as a reader may whose every piece leaves in time. */
  private final class Slowly implements StreamPage {
    private final int secondsForEach;

    Slowly(int secondsForEach) {
      this.secondsForEach = secondsForEach;
    }

    @Override
    public String contentType() {
      return Page.TEXT;
    }

    @Override
    public void write(Appendable out) throws IOException {
      for (int i = 0; i < CHUNKS; i++) {
        out.append("x".repeat(16 << 10));
        written++;
        now += TimeUnit.SECONDS.toNanos(secondsForEach);
      }
    }
  }

  private EmbeddedChannel read(int secondsForEach) {
    EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    Streams streams = new Streams(Map.of(), Runnable::run, 10_000, () -> now);
    assertThat(
            streams.begin(
                channel.pipeline().firstContext(),
                new Slowly(secondsForEach),
                HttpVersion.HTTP_1_1,
                true,
                false,
                () -> thenRuns++))
        .isTrue();
    channel.runPendingTasks();
    channel.outboundMessages().forEach(ReferenceCountUtil::release);
    assertThat(streams.waiting()).isZero();
    return channel;
  }

  @ParameterizedTest
  @CsvSource({"9, 4", "6, 5", "15, 2"})
  void whoReadsSteadilyButTooSlowlyLosesThePage(int secondsForEach, int chunks) {
    assertThat(read(secondsForEach).isOpen()).isFalse();
    assertThat(written).isEqualTo(chunks);
    assertThat(thenRuns).isZero();
  }

  @Test
  void whoReadsItInTimeGetsAllOfIt() {
    assertThat(read(1).isOpen()).isTrue();
    assertThat(written).isEqualTo(CHUNKS);
    assertThat(thenRuns).isOne();
  }
}
