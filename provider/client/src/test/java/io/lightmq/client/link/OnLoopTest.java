package io.lightmq.client.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.DefaultEventLoop;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What belongs to the loop of a link is touched there. */
class OnLoopTest {
  private final DefaultEventLoop loop = new DefaultEventLoop();
  private final LinkWriter writer = new LinkWriter(loop);

  @AfterEach
  void end() throws InterruptedException {
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
  }

  @Test
  void aStrangersThreadIsFound() {
    assertThatThrownBy(writer::drop)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("was called on thread " + Thread.currentThread().getName());
  }

  @Test
  void theLoopsIsNot() throws Exception {
    assertThat(loop.submit(writer::drop).await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(loop.submit(writer::drop).await().isSuccess()).isTrue();
  }

  @Test
  void nothingElseHappensOnALoopThatHasEnded() throws InterruptedException {
    end();
    assertThatCode(writer::drop).doesNotThrowAnyException();
  }
}
