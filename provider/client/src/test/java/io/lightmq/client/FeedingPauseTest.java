package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.ClientUri;
import io.lightmq.client.message.Messages;
import io.lightmq.wire.Frame;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When a connection consumer asks for messages, after its pool has failed. */
@Timeout(60)
class FeedingPauseTest {
  /** How often the pause is looked at before it is over. */
  private static final int LOOKS = 3;

  @RegisterExtension final ScriptedBrokerExtension rig = new ScriptedBrokerExtension();

  private final List<Long> askedAtLook = new ArrayList<>();
  private boolean waiting;
  private long looks;
  private Inbox inbox;
  private ConsumerQueue queue;

  /** Stands still but for the end of the pause, which comes with the last look. */
  private long now() {
    if (waiting) {
      looks++;
    }
    return looks > LOOKS ? 1_000_000_000 : 0;
  }

  private Object answered(String method, Object[] arguments) {
    if (method.equals("pull")) {
      askedAtLook.add(looks);
      var pull = (Frame.PullOne) arguments[0];
      inbox.delivered(rig.broker().deliver(pull, "orders", 1, 0, "a"), queue);
    }
    return null;
  }

  private void open(String options) throws Exception {
    ClientSettings settings = ClientSettings.of(ClientUri.parse("lightmq://127.0.0.1" + options));
    JmsDestinations destinations = new JmsDestinations();
    BrokerLink link =
        (BrokerLink)
            Proxy.newProxyInstance(
                BrokerLink.class.getClassLoader(),
                new Class<?>[] {BrokerLink.class},
                (proxy, method, arguments) -> answered(method.getName(), arguments));
    inbox =
        new Inbox(
            AckMode.AUTO,
            link,
            1,
            new Messages(settings.trust(), destinations, settings.jmsx()),
            settings,
            new NoSession(),
            new Refusals(new PassingLimit()));
    queue = new ConsumerQueue(1, inbox, AckMode.AUTO, link, settings, over -> {});
    inbox.add(queue);
    inbox.start();
  }

  @ParameterizedTest
  @CsvSource({"'?prefetchMessages=0',4", "'?prefetchMessages=10',0"})
  void onDemandNothingIsAskedForBeforeThePauseIsOver(String options, long asked) throws Exception {
    open(options);
    ListenerPause pause = new ListenerPause(this::now);
    pause.failed();
    pause.failed();
    assertThat(pause.nanosLeft()).as("after two failures").isPositive();
    waiting = true;
    assertThat(inbox.feeding().awaitMessage(queue, pause)).isTrue();
    assertThat(askedAtLook).first().as("how often the pause was looked at").isIn(asked, asked + 1);
  }
}
