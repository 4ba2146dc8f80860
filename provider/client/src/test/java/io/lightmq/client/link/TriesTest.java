package io.lightmq.client.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lightmq.client.ScriptedBroker;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tries to connect that nobody waits for any more, on a loop that lives on. */
@Timeout(60)
class TriesTest {
  private static final int MAX_DELAY_MILLIS = 50;

  private final AtomicInteger tries = new AtomicInteger();
  private final AtomicInteger resolved = new AtomicInteger();
  private final CompletableFuture<LinkException> failed = new CompletableFuture<>();
  private ScriptedBroker broker;
  private EventLoop loop;
  private int addresses = 1;
  private Runnable onResolve = () -> {};

  @BeforeEach
  void start() throws Exception {
    broker = new ScriptedBroker();
    loop = LinkLoop.acquire();
  }

  @AfterEach
  void stop() throws Exception {
    LinkLoop.release();
    broker.close();
  }

  /** The loop is the test's too, so that it does not end with the link. */
  private final class Observed implements Endpoint {
    @Override
    public List<SocketAddress> addresses() {
      resolved.incrementAndGet();
      onResolve.run();
      SocketAddress address =
          new InetSocketAddress(InetAddress.getLoopbackAddress(), broker.port());
      return java.util.Collections.nCopies(addresses, address);
    }

    @Override
    public EventLoopGroup group() {
      return loop;
    }

    @Override
    public Class<? extends Channel> channelType() {
      tries.incrementAndGet();
      return NioSocketChannel.class;
    }

    @Override
    public void close() {}
  }

  private LinkSettings settings(int timeoutMillis, int delayMillis, int attempts) {
    return new LinkSettings(
        ClientUri.parse("lightmq://127.0.0.1"),
        LinkSettings.Credentials.NONE,
        null,
        new LinkSettings.Timeouts(timeoutMillis, timeoutMillis, timeoutMillis),
        new LinkSettings.Batching(1 << 20, 1, 0),
        new LinkSettings.Reconnect(true, false, delayMillis, 2, delayMillis, -1, attempts));
  }

  private BrokerLink open(LinkSettings settings) throws LinkException {
    return NettyLink.open(settings, new Deaf(), new Observed());
  }

  private static final class Deaf implements LinkListener {
    @Override
    public void delivered(Frame.Deliver delivery) {}

    @Override
    public void pullEnded(Frame.PullEnd end) {}

    @Override
    public void lost(LinkException cause) {}

    @Override
    public void restored() {}

    @Override
    public void failed(LinkException cause) {}
  }

  /** Connects on a thread of its own, in vain. */
  private Thread opening(LinkSettings settings) {
    Thread thread =
        new Thread(
            () -> {
              try {
                open(settings).close();
              } catch (LinkException e) {
                failed.complete(e);
              } catch (RuntimeException e) {
                failed.completeExceptionally(e);
              }
            });
    thread.start();
    return thread;
  }

  private void turnAway(FaultCode code) {
    broker.on(Frame.Hello.class, hello -> List.of(new Frame.Goodbye(code, "full")));
  }

  /** Whatever the loop was to do by now is done then. */
  private void loopIsThrough() throws Exception {
    loop.schedule(() -> {}, MAX_DELAY_MILLIS, TimeUnit.MILLISECONDS).get(10, TimeUnit.SECONDS);
  }

  @Test
  void theNextTryOfALinkEndsTheOneThatWasGivenUp() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    loop.execute(() -> assertThat(awaited(goOn)).isTrue());
    onResolve =
        () -> {
          if (resolved.get() == 2) { // the first was not even begun in its time
            goOn.countDown();
          }
        };
    BrokerLink link = open(settings(500, MAX_DELAY_MILLIS, -1));
    try {
      assertThat(resolved).hasValueGreaterThanOrEqualTo(2);
      await().until(() -> broker.connected() == 1);
      link.openSession().get(10, TimeUnit.SECONDS);
    } finally {
      link.close();
    }
  }

  private static boolean awaited(CountDownLatch latch) {
    try {
      return latch.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      return false;
    }
  }

  @Test
  void whoeverIsInterruptedWhileTheBrokerSaysToComeLaterDoesNotComeLater() throws Exception {
    turnAway(FaultCode.RETRY_LATER);
    Thread thread = opening(settings(20_000, MAX_DELAY_MILLIS, 0));
    await().until(() -> broker.seen(Frame.Hello.class).size() >= 2);
    thread.interrupt();
    assertThat(failed.get(10, TimeUnit.SECONDS)).hasMessageContaining("interrupted");
    thread.join();
    int before = tries.get();
    loopIsThrough();
    assertThat(tries).hasValue(before);
    await().until(() -> broker.connected() == 0);
  }

  @Test
  void whatIsClosedAtItsFirstAddressDoesNotTryTheNext() throws Exception {
    addresses = 3;
    broker.on(Frame.Hello.class, hello -> List.of());
    Thread thread = opening(settings(20_000, MAX_DELAY_MILLIS, 0));
    await().until(() -> broker.seen(Frame.Hello.class).size() == 1);
    thread.interrupt();
    assertThat(failed.get(10, TimeUnit.SECONDS)).hasMessageContaining("interrupted");
    thread.join();
    loopIsThrough();
    assertThat(tries).hasValue(1);
    await().until(() -> broker.connected() == 0);
  }

  @Test
  void nobodyWaitsForALoopThatHasEnded() throws Exception {
    EventLoop own = OwnLoop.start();
    EventLoop shared = loop;
    loop = own;
    try {
      turnAway(FaultCode.RETRY_LATER);
      Thread thread = opening(settings(300_000, 200_000, 0));
      await().until(() -> broker.seen(Frame.Hello.class).size() == 2); // the third comes in minutes
      own.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
      assertThat(failed.get(10, TimeUnit.SECONDS).code()).isEqualTo(FaultCode.CLOSING);
      thread.join();
      assertThatThrownBy(() -> open(settings(300_000, 1, 1)))
          .isInstanceOf(LinkException.class)
          .hasMessageContaining("closed while it was connected to");
    } finally {
      loop = shared;
    }
  }

  private static final class OwnLoop {
    static EventLoop start() {
      return new io.netty.channel.SingleThreadIoEventLoop(
          null,
          (java.util.concurrent.ThreadFactory) task -> new Thread(task, "test-loop"),
          io.netty.channel.nio.NioIoHandler.newFactory());
    }
  }
}
