package io.lightmq.client.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.client.link.LinkStatus.Phase;
import io.lightmq.wire.entry.FaultCode;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a link tells of its losses. */
class StoryTest {
  private static final Instant NOON = Instant.parse("2026-01-02T12:00:00Z");

  private long nanos = TimeUnit.SECONDS.toNanos(-5); // it may be anything
  private final Story story = new Story(Clock.fixed(NOON, ZoneOffset.UTC), () -> nanos);
  private final LinkException reset = new LinkException(FaultCode.CLOSING, "reset");

  private void pass(int seconds) {
    nanos += TimeUnit.SECONDS.toNanos(seconds);
  }

  @Test
  void aLossLastsUntilTheConnectionIsThereAgain() {
    story.connected("a:1");
    pass(100);
    assertThat(story.status())
        .isEqualTo(new LinkStatus(Phase.OPEN, NOON, "a:1", 0, null, 0, Duration.ZERO));
    story.lost(reset);
    story.attempt();
    story.attempt();
    pass(3);
    assertThat(story.status())
        .isEqualTo(new LinkStatus(Phase.LOST, NOON, "a:1", 2, reset, 0, Duration.ofSeconds(3)));
    story.connected("b:2");
    pass(9);
    assertThat(story.status())
        .isEqualTo(new LinkStatus(Phase.OPEN, NOON, "b:2", 2, reset, 1, Duration.ofSeconds(3)));
    story.lost(reset);
    pass(1);
    assertThat(story.status().outage()).isEqualTo(Duration.ofSeconds(1));
    assertThat(story.status().attempts()).isZero();
  }

  @Test
  void anEndInTheMidstOfALossTellsHowLongThatWas() {
    story.connected("a:1");
    story.lost(reset);
    pass(4);
    LinkException gaveUp = new LinkException(FaultCode.CLOSING, "gave up");
    story.ended(gaveUp);
    pass(4);
    assertThat(story.status())
        .isEqualTo(new LinkStatus(Phase.ENDED, NOON, "a:1", 0, gaveUp, 0, Duration.ofSeconds(4)));
  }

  @Test
  void aCloseIsNoCause() {
    story.connected("a:1");
    story.ended(null);
    assertThat(story.status().cause()).isNull();
    assertThat(story.status().phase()).isEqualTo(Phase.ENDED);
  }

  @Test
  void theLineAboutALossThatIsOverHasItsCauseAndItsLength() {
    story.connected("a:1");
    story.lost(reset);
    story.attempt();
    pass(2);
    story.connected("b:2");
    assertThat(Reconnecting.told(ClientUri.parse("lightmq://a:1,b:2?password=x"), story.status()))
        .isEqualTo(
            "lightmq://a:1,b:2: connected again to b:2 after 1 attempt and 2000 ms; it was lost"
                + " because: reset");
  }
}
