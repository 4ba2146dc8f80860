package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.ClientUri;
import io.lightmq.client.message.Messages;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.JMSException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** For how long a want of room excuses those who fail by it. */
@Timeout(60)
class PassingLimitTest {
  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private final List<Boolean> counted = new ArrayList<>();
  private long nanos = 5;
  private Refusals refusals;
  private Inbox inbox;
  private ConsumerQueue queue;
  private long sequence;

  private Object answered(String method, Class<?> type, Object[] arguments) {
    if (method.equals("giveBack")) {
      counted.add((Boolean) arguments[1]);
    }
    if (method.equals("pull") && ((Frame.PullOne) arguments[0]).parkMillis() == 0) {
      int pullId = ((Frame.PullOne) arguments[0]).pullId();
      inbox.pullEnded(new Frame.PullEnd(1, pullId, FaultCode.OK, 0), queue);
    }
    return type == CompletableFuture.class ? CompletableFuture.completedFuture(null) : null;
  }

  @BeforeEach
  void open() {
    ClientSettings settings = ClientSettings.of(ClientUri.parse("lightmq://127.0.0.1"));
    JmsDestinations destinations = new JmsDestinations();
    BrokerLink link =
        (BrokerLink)
            Proxy.newProxyInstance(
                BrokerLink.class.getClassLoader(),
                new Class<?>[] {BrokerLink.class},
                (proxy, method, arguments) ->
                    answered(method.getName(), method.getReturnType(), arguments));
    refusals = new Refusals(new PassingLimit(() -> nanos));
    inbox =
        new Inbox(
            AckMode.AUTO,
            link,
            1,
            new Messages(settings.trust(), destinations, settings.jmsx()),
            settings,
            new NoSession(),
            refusals);
    queue = new ConsumerQueue(1, inbox, AckMode.AUTO, link, settings, over -> {});
    inbox.add(queue);
    inbox.start();
  }

  private static JMSException refused(FaultCode code) {
    return JmsFaults.of(code, "refused by the test", null);
  }

  private void seconds(long seconds) {
    nanos += TimeUnit.SECONDS.toNanos(seconds);
  }

  /** Whether a message counts whose listener fails so. */
  private boolean counts(FaultCode code) {
    sequence++;
    Frame.PullOne pull = new Frame.PullOne(1, 0, 1, 1, 0);
    inbox.delivered(rig.broker().deliver(pull, "orders", sequence, 0, "a"), queue);
    Arrived message = inbox.feeding().take(queue, 1).messages().get(0);
    counted.clear();
    inbox
        .listening()
        .run(
            new Listening.Work(
                message,
                got -> {
                  throw new IllegalStateException(refused(code));
                },
                false,
                () -> false));
    assertThat(counted).hasSize(1);
    return counted.get(0);
  }

  @Test
  void aListenerIsExcusedForALimitForFiveMinutesInARow() {
    for (int i = 0; i < 10; i++) {
      assertThat(counts(FaultCode.LIMIT_REACHED)).isFalse();
      seconds(30);
    }
    for (int i = 0; i < 10; i++) {
      assertThat(counts(FaultCode.LIMIT_REACHED)).isTrue();
      seconds(30);
    }
    seconds(31);
    assertThat(counts(FaultCode.LIMIT_REACHED)).as("after a minute without").isFalse();
  }

  @ParameterizedTest
  @EnumSource(
      value = FaultCode.class,
      names = {"DISK_FULL", "MEMORY_FULL", "RETRY_LATER"})
  void forWhatIsTheBrokersItIsExcusedWithoutEnd(FaultCode code) {
    for (int i = 0; i < 40; i++) {
      assertThat(counts(code)).isFalse();
      seconds(30);
    }
  }

  @Test
  void soIsASessionThatGivesBackWhatItHasReceived() {
    for (int i = 0; i < 10; i++) {
      refusals.note(refused(FaultCode.LIMIT_REACHED));
      assertThat(refusals.take()).isNotNull();
      seconds(30);
    }
    refusals.note(refused(FaultCode.LIMIT_REACHED));
    assertThat(refusals.take()).isNull();
    refusals.note(refused(FaultCode.DISK_FULL));
    assertThat(refusals.take()).isNotNull();
  }
}
