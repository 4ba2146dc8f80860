package io.lightmq.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Figure;
import io.lightmq.core.shard.BrokerMetrics;
import io.lightmq.core.shard.BrokerMetrics.DestinationUse;
import io.lightmq.core.shard.BrokerMetrics.SubscriptionUse;
import io.lightmq.node.NodeMetrics;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeMetersTest {
  private long nowSeconds = 100;
  private long published;
  private long acknowledged;
  private Map<Figure, Long> figures = Map.of();
  private boolean exists = true;
  private String name = "";
  private long longestTurn;
  private BrokerMetrics.OtherUse others = BrokerMetrics.OtherUse.NONE;
  private final NodeMeters meters = new NodeMeters(this::reading, () -> longestTurn, () -> 5);

  @TempDir Path directory;

  private NodeMetrics reading() {
    SubscriptionUse subscription =
        new SubscriptionUse(
            name,
            "queue",
            2,
            new BrokerMetrics.BacklogUse(7, 3, 5_000, 61_500),
            new BrokerMetrics.SettledUse(acknowledged, 1, 4),
            new BrokerMetrics.SelectorUse(40, 12_345),
            new BrokerMetrics.GroupBucketUse(2, 64));
    DestinationUse orders =
        new DestinationUse(
            new DestinationName(DestinationKind.QUEUE, "orders"),
            "high",
            new BrokerMetrics.PublishedUse(published, published * 100),
            List.of(subscription));
    BrokerMetrics broker =
        new BrokerMetrics(
            TimeUnit.SECONDS.toNanos(nowSeconds),
            new BrokerMetrics.Load(1, 0, ""),
            new BrokerMetrics.DirectUse(64 << 20, Map.of()),
            BrokerMetrics.NONE.journal(),
            BrokerMetrics.NONE.checkpoints(),
            new BrokerMetrics.DiskUse(20, 100),
            new BrokerMetrics.OverflowUse(1_500, 9_000, 2, 17, 3),
            figures,
            exists ? List.of(orders) : List.of(),
            others);
    return new NodeMetrics(
        broker,
        new NodeMetrics.ConnectionUse(4, 1, 6),
        new NodeMetrics.ByteUse(1_000, 2_000),
        new NodeMetrics.ByteUse(3_000, 4_000));
  }

  private String scrape() {
    StringBuilder text = new StringBuilder();
    try {
      meters.write(text);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return text.toString();
  }

  @AfterEach
  void close() {
    meters.close();
  }

  private String line(String name) {
    return scrape()
        .lines()
        .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
        .findFirst()
        .orElse("no " + name);
  }

  @Test
  void backlogLagAndAgeHaveDestinationAndSubscription() {
    String labels = "{destination=\"orders\",kind=\"queue\",subscription=\"\"} ";
    assertThat(line("lightmq_backlog_messages"))
        .isEqualTo("lightmq_backlog_messages" + labels + "7.0");
    assertThat(line("lightmq_lag_seconds")).isEqualTo("lightmq_lag_seconds" + labels + "61.5");
    assertThat(line("lightmq_oldest_message_age_seconds")).endsWith(" 5.0");
    assertThat(line("lightmq_in_flight_messages")).endsWith(" 3.0");
    assertThat(line("lightmq_consumers")).endsWith(" 2.0");
  }

  @Test
  void eachFigureOfTheShardIsOnThePageByItsNameAndWithItsHelp() {
    figures = new EnumMap<>(Figure.class);
    for (Figure each : Figure.values()) {
      figures.put(each, 100L + each.ordinal());
    }
    for (Figure each : Figure.values()) {
      boolean total = each.kind() == Figure.Kind.SINCE_START;
      String name = each.metric().replace('.', '_') + (total ? "_total" : "");
      assertThat(line(name)).isEqualTo(name + " " + (100.0 + each.ordinal()));
      assertThat(scrape()).contains("# HELP " + name + " " + each.help());
    }
  }

  @Test
  void theOverflowIsTold() {
    assertThat(line("lightmq_overflow_bytes")).endsWith(" 1500.0");
    assertThat(line("lightmq_overflow_limit_bytes")).endsWith(" 9000.0");
    assertThat(line("lightmq_overflow_messages_total")).endsWith(" 17.0");
    assertThat(line("lightmq_overflow_failures_total")).endsWith(" 3.0");
  }

  @Test
  void ratesOfBothSidesAreTakenOverTheSameTime() {
    nowSeconds = 110;
    published = 1_000;
    acknowledged = 500;
    meters.sample();
    assertThat(line("lightmq_produce_rate")).endsWith(" 100.0");
    assertThat(line("lightmq_consume_rate")).endsWith(" 50.0");
    assertThat(line("lightmq_published_messages_total")).endsWith(" 1000.0");
    assertThat(line("lightmq_acknowledged_messages_total")).endsWith(" 500.0");
    assertThat(line("lightmq_selector_evaluations_total")).endsWith(" 40.0");
    assertThat(line("lightmq_selector_micros_total")).endsWith(" 12.0");
    assertThat(line("lightmq_group_bucket_moves_total")).endsWith(" 64.0");
    assertThat(line("lightmq_group_buckets_moving")).endsWith(" 2.0");
  }

  @Test
  void theLongestTurnOfTheLastSecondsIsTold() {
    longestTurn = 1_500_000_000L;
    assertThat(line("lightmq_turn_longest_seconds")).endsWith(" 1.5");
    longestTurn = 20_000_000L;
    meters.sample();
    assertThat(line("lightmq_turn_longest_seconds")).as("of the 10 s before").endsWith(" 1.5");
    meters.sample();
    assertThat(line("lightmq_turn_longest_seconds")).endsWith(" 0.02");
  }

  @Test
  void whatIsNotShownOneByOneIsOneSeries() {
    assertThat(scrape()).doesNotContain("\"other\"");
    others = new BrokerMetrics.OtherUse(19_000, 19_001, 57_000, 12, 3);
    String labels = "{destination=\"other\",kind=\"other\",subscription=\"other\"} ";
    assertThat(scrape())
        .contains("lightmq_backlog_messages" + labels + "57000.0\n")
        .contains("lightmq_in_flight_messages" + labels + "12.0\n")
        .contains("lightmq_consumers" + labels + "3.0\n")
        .contains("lightmq_other_destinations 19000.0\n")
        .contains("lightmq_other_subscriptions 19001.0\n");
  }

  @Test
  void aNameCannotEndItsLineOrItsLabel() {
    name = "a\"b\\c\u0007\u001b[2J";
    assertThat(line("lightmq_consumers"))
        .contains(",subscription=\"a\\\"b\\\\c\\\\u0007\\\\u001b[2J\"} ");
  }

  @Test
  void nothingIsKeptForRatesWhileNobodyAsks() {
    published = 1_000;
    for (int i = 0; i < 40; i++) {
      nowSeconds += 10;
      published += 100;
      meters.sample();
    }
    assertThat(line("lightmq_produce_rate")).as("nobody had asked").endsWith(" 0.0");
    nowSeconds += 10;
    meters.sample();
    nowSeconds += 10;
    published += 100;
    meters.sample();
    assertThat(line("lightmq_produce_rate")).endsWith(" 10.0");
  }

  @Test
  void everyLineIsWellFormedAndEachNameIsTogether() {
    others = new BrokerMetrics.OtherUse(1, 1, 1, 1, 1);
    List<String> names = new java.util.ArrayList<>();
    for (String line : scrape().lines().toList()) {
      if (!line.startsWith("#")) {
        assertThat(line).matches("[a-z_]+(\\{([a-z]+=\"[^\"]*\",?)+})? [-+.\\dE]+|.* (NaN|\\+Inf)");
        String own = line.replaceFirst("[{ ].*", "");
        if (names.isEmpty() || !names.get(names.size() - 1).equals(own)) {
          assertThat(names).doesNotContain(own);
          names.add(own);
        }
      }
    }
    assertThat(names).hasSizeGreaterThan(60);
  }

  @Test
  void aDeletedDestinationLeavesNothingBehind() {
    assertThat(scrape()).contains("orders");
    exists = false;
    assertThat(scrape()).doesNotContain("orders");
  }

  @Test
  void figuresOfTheNodeAreThere() {
    assertThat(line("lightmq_connections")).isEqualTo("lightmq_connections 4.0");
    assertThat(line("lightmq_direct_total_bytes")).contains("6.7109864E7");
    assertThat(line("lightmq_disk_size_bytes")).endsWith(" 100.0");
    assertThat(line("lightmq_credit_budget_bytes")).endsWith(" 4000.0");
    assertThat(line("jvm_memory_used_bytes")).startsWith("jvm_memory_used_bytes{");
  }

  @Test
  void everyMetricOfTheAlertRulesIsExported() throws IOException {
    String rules = Files.readString(Path.of("../../docs/alerts.yml"));
    TreeSet<String> names = new TreeSet<>();
    Matcher matcher = Pattern.compile("lightmq_[a-z_]+").matcher(rules);
    while (matcher.find()) {
      names.add(matcher.group());
    }
    assertThat(names).hasSizeGreaterThan(8);
    String scrape = scrape();
    assertThat(names)
        .allSatisfy(name -> assertThat(scrape).containsPattern("(?m)^" + name + "[{ ]"));
  }

  @Test
  void theAlertRulesCoverWhatTheDocumentationPromises() throws IOException {
    String rules = Files.readString(Path.of("../../docs/alerts.yml"));
    assertThat(rules)
        .contains("deriv(lightmq_backlog_messages[10m]) > 0", "for: 10m")
        .contains("lightmq_lag_seconds > 60")
        .contains("lightmq_io_wait_ratio > 0.2")
        .contains("lightmq_disk_usable_bytes / lightmq_disk_size_bytes > 0.8");
  }

  @Test
  void ioWaitIsTheShareOfTheTimeBetweenTwoLooks() throws IOException {
    Path stat = directory.resolve("stat");
    Files.writeString(stat, "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3 4\n");
    IoWait wait = new IoWait(stat);
    assertThat(wait.sinceLast()).isNaN();
    Files.writeString(stat, "cpu  150 0 100 720 130 0 0 0 0 0\n");
    assertThat(wait.sinceLast()).isEqualTo(0.3);
    assertThat(new IoWait(directory.resolve("none")).sinceLast()).isNaN();
  }
}
