package io.lightmq.samples.broker;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BrokerMetricsTest {

  private static final String PAGE =
      """
      # HELP lightmq_backlog_messages messages
      # TYPE lightmq_backlog_messages gauge
      lightmq_backlog_messages{destination="a",subscription="q"} 5.0
      lightmq_backlog_messages{destination="b",subscription="q"} 2.0
      lightmq_backlog_messages_total 1.0E9
      lightmq_up 1
      lightmq_bucket{le="+Inf"} +Inf
      """;

  private final BrokerMetrics metrics = BrokerMetrics.parse(PAGE);

  @Test
  void sumsTheSamplesOfOneNameOnly() {
    assertThat(metrics.sum("lightmq_backlog_messages", "")).isEqualTo(7);
  }

  @Test
  void picksByLabel() {
    assertThat(metrics.sum("lightmq_backlog_messages", "destination=\"b\"")).isEqualTo(2);
  }

  @Test
  void knowsWhatIsNotThere() {
    assertThat(metrics.has("lightmq_up")).isTrue();
    assertThat(metrics.has("lightmq_backlog")).isFalse();
    assertThat(metrics.sum("lightmq_bucket", "")).isInfinite();
  }
}
