package io.lightmq.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.destination.RedeliverySchedule;
import io.lightmq.core.destination.Suppression;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.door.BrokerSettings.DestinationRule;
import io.lightmq.spi.Durability;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerConfigTest {
  private static final long HEAP = 1L << 30;
  private static final Path SHIPPED = Path.of("src/main/dist/conf/lightmq.toml");

  @TempDir Path directory;

  private static ServerConfig read(String... lines) throws ConfigException {
    return ServerConfig.read(ConfigReader.of("test.toml", String.join("\n", lines)), HEAP);
  }

  private static void assertWrong(String expected, String... lines) {
    assertThatThrownBy(() -> read(lines)).isInstanceOf(ConfigException.class).hasMessage(expected);
  }

  @Test
  void anEmptyFileMeansTheDefaults() throws ConfigException {
    ServerConfig config = read("");
    assertThat(config).isEqualTo(ServerConfig.defaults(HEAP));
    assertThat(config.listeners().get(0).getPort()).isEqualTo(7654);
    assertThat(config.listeners().get(0).getAddress().isLoopbackAddress()).isTrue();
    assertThat(config.http()).isNotNull();
    assertThat(config.anonymous()).isTrue();
    assertThat(config.node().broker().destinations().settings().tier()).isEqualTo(Durability.HIGH);
    assertThat(config.node().creditBytes()).isEqualTo(128L << 20);
  }

  @Test
  void theShippedFileShowsEveryKeyWithItsDefault() throws Exception {
    String shipped = Files.readString(SHIPPED);
    String uncommented =
        Pattern.compile("(?m)^# ([a-z-]+ = .*)$").matcher(shipped).replaceAll("$1");
    ConfigReader reader = ConfigReader.of("lightmq.toml", uncommented);
    assertThat(ServerConfig.read(reader, HEAP)).isEqualTo(ServerConfig.defaults(HEAP));
    for (String key : ServerConfig.keys()) {
      String name = key.substring(key.lastIndexOf('.') + 1);
      assertThat(uncommented).as("key " + key).containsPattern("(?m)^" + name + " = ");
    }
    assertThat(ServerConfig.read(SHIPPED, HEAP)).isEqualTo(ServerConfig.defaults(HEAP));
  }

  @Test
  void smallHeapsGetSmallBudgets() throws ConfigException {
    ServerConfig config = ServerConfig.defaults(128L << 20);
    assertThat(config.node().creditBytes()).isEqualTo(16L << 20);
    assertThat(config.node().deliveryBytes()).isEqualTo(16L << 20);
    assertThat(config.node().broker().memory().windowBytes()).isEqualTo(64 << 20);
    assertThat(ServerConfig.defaults(48L << 20).node().broker().memory().windowBytes())
        .isEqualTo(16 << 20);
  }

  @Test
  void anUnknownKeyIsAnErrorWithLineAndNearestName() {
    assertWrong(
        "test.toml line 2: listener.prot is not a key of this configuration; the nearest is"
            + " 'listener.port'",
        "[listener]",
        "prot = 1");
    assertWrong(
        "test.toml line 1: listner.port is not a key of this configuration; the nearest is"
            + " 'listener.port'",
        "listner.port = 1");
  }

  @Test
  void anUnknownKeyThatIsLikeNoOtherIsGivenNoNearestName() {
    assertWrong(
        "test.toml line 1: zzzzzzzzzz is not a key of this configuration", "zzzzzzzzzz = 1");
  }

  @Test
  void aRuleUnderTheWrongNameIsToldTheRightOne() {
    for (String wrong : List.of("destinations", "destinatoin")) {
      assertWrong(
          "test.toml line 2: "
              + wrong
              + ".\"orders.*\".tier is not a key of this configuration; a rule for destinations is"
              + " a table [destination.\"orders.*\"]",
          "[" + wrong + ".\"orders.*\"]",
          "tier = \"high\"");
    }
  }

  @Test
  void brokenTomlNamesTheLine() {
    assertThatThrownBy(() -> read("[listener]", "port = = 4"))
        .hasMessageStartingWith("test.toml line 2: ");
  }

  @Test
  void aWrongTypeSaysWhatIsWanted() {
    assertWrong(
        "test.toml line 2: listener.port must be a whole number", "[listener]", "port = \"x\"");
    assertWrong("test.toml line 1: http.enabled must be true or false", "http.enabled = 1");
    assertWrong(
        "test.toml line 1: memory.window must be a number of bytes such as 65536, \"64KiB\","
            + " \"4MiB\" or \"1GiB\"",
        "memory.window = \"64 megs\"");
  }

  @Test
  void aNumberOutOfRangeNamesTheRange() {
    assertWrong(
        "test.toml line 1: listener.port is 70000 but must be 0 to 65535", "listener.port = 70000");
  }

  @Test
  void settingsThatDoNotFitTogetherSayWhy() {
    assertThatThrownBy(() -> read("[memory]", "window = \"65MiB\""))
        .hasMessageContaining("test.toml line 2: memory.window")
        .hasMessageContaining("a power of two");
  }

  @Test
  void aMessageLimitThatTheBrokerCannotHoldNamesTheOptions() {
    assertThatThrownBy(() -> read("limits.message = \"64MiB\""))
        .hasMessageContaining("limits.message")
        .hasMessageContaining("64 to " + BrokerSettings.MAX_MESSAGE_BYTES);
    assertThatThrownBy(
            () -> read("[limits]", "message = \"4MiB\"", "[memory]", "window = \"8MiB\""))
        .hasMessageContaining("test.toml line 2: limits.message is 4194304")
        .hasMessageContaining("memory.window 8388608 and flush.bytes");
  }

  /** The refusal of a longer transaction names this setting. */
  @Test
  void howMuchIsStagedOfATransactionCanBeSet() throws ConfigException {
    assertThat(read().node().broker().limits().maxStagedBytes()).isEqualTo(1L << 30);
    assertThat(
            read("limits.staged-transaction = \"3GiB\"").node().broker().limits().maxStagedBytes())
        .isEqualTo(3L << 30);
    assertWrong(
        "test.toml line 1: limits.staged-transaction is 1 bytes but must be 1048576 to"
            + " 1125899906842624 bytes",
        "limits.staged-transaction = 1");
  }

  @Test
  void aHugeConnectionLimitNamesTheCreditThatItNeeds() {
    assertThatThrownBy(() -> read("limits.connections = 1000000"))
        .hasMessageContaining("publish credit")
        .hasMessageContaining("set at least");
  }

  @Test
  void rulesGiveTiersByPattern() throws ConfigException {
    ServerConfig config =
        read(
            "[destinations]",
            "tier = \"balanced\"",
            "[destination.\"orders.*\"]",
            "tier = \"high\"",
            "[destination.\"metrics.>\"]");
    assertThat(config.node().broker().destinations().settings().tier())
        .isEqualTo(Durability.BALANCED);
    assertThat(config.node().broker().destinations().rules())
        .containsExactlyInAnyOrder(
            new DestinationRule("orders.*", Durability.HIGH),
            new DestinationRule("metrics.>", Durability.BALANCED));
  }

  @Test
  void rulesSayWhatBecomesOfFailedAndExpiredMessages() throws ConfigException {
    ServerConfig config =
        read(
            "[destinations]",
            "max-attempts = 3",
            "[destination.\"orders.*\"]",
            "redelivery-delay = \"1s*2..5m\"",
            "redelivery-order = \"non-blocking\"",
            "dead-letter = \"orders-failed\"",
            "expiry = \"orders-expired\"");
    assertThat(config.node().broker().destinations().rules())
        .containsExactly(
            new DestinationRule(
                "orders.*",
                new DestinationSettings(
                    Durability.HIGH,
                    RedeliverySchedule.parse("1s*2..5m"),
                    DestinationSettings.RedeliveryOrder.NON_BLOCKING,
                    3,
                    "orders-failed",
                    "orders-expired",
                    null)));
    assertWrong(
        "test.toml line 1: destinations.redelivery-delay is \"1x\", but \"1x\" is no number with"
            + " ms, s, m, h or d; write none, steps such as 1s,10s,1m, or a first wait, a factor"
            + " and a maximum such as 1s*2..5m",
        "destinations.redelivery-delay = \"1x\"");
  }

  @Test
  void rulesSayWhichMessagesAreDuplicates() throws ConfigException {
    ServerConfig config =
        read(
            "[destination.\"orders.*\"]",
            "suppress-duplicates = \"property:orderId,keys=5000,time=10m\"");
    assertThat(config.node().broker().destinations().rules())
        .extracting(rule -> rule.settings().suppression())
        .containsExactly(new Suppression("orderId", 5_000, 600_000));
    assertWrong(
        "test.toml line 1: destinations.suppress-duplicates is \"yes\" but must be none, message-id"
            + " or property:NAME, then if wanted ,keys=N and ,time=T with T such as 30s, 5m or 1h",
        "destinations.suppress-duplicates = \"yes\"");
  }

  @Test
  void anUnknownTierAndAnUnknownKeyInARuleAreErrors() {
    assertWrong(
        "test.toml line 2: destination.\"orders.*\".tier is \"fast\" but must be one of"
            + " performance, balanced, high",
        "[destination.\"orders.*\"]",
        "tier = \"fast\"");
    assertWrong(
        "test.toml line 2: destination.\"orders.*\".teir is not a key of this configuration; the"
            + " nearest is 'destination.\"orders.*\".tier'",
        "[destination.\"orders.*\"]",
        "teir = \"high\"");
  }

  @Test
  void aListenerThatOthersCanReachSwitchesAnonymousOff() throws ConfigException {
    assertThat(read("listener.host = \"0.0.0.0\"").anonymous()).isFalse();
    assertThat(read("listener.further = [\"0.0.0.0:1\"]").anonymous()).isFalse();
    assertThat(read("listener.further = [\"[::1]:7656\"]").anonymous()).isTrue();
    assertThat(read("security.anonymous = false").anonymous()).isFalse();
  }

  @Test
  void aFurtherListenerNeedsHostAndPort() {
    assertWrong(
        "test.toml line 1: listener.further has \"somewhere\", which is not \"host:port\"",
        "listener.further = [\"somewhere\"]");
  }

  @Test
  void aMissingFileSaysSo() {
    Path missing = directory.resolve("none.toml");
    assertThatThrownBy(() -> ServerConfig.read(missing, HEAP))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(missing.toString());
  }

  @ParameterizedTest
  @CsvSource({
    "0,0",
    "17,17",
    "1B,1",
    "64KiB,65536",
    "4 MiB,4194304",
    "1GiB,1073741824",
    "x,-1",
    "-1,-1",
    "1kb,-1",
    "9999999999999,-1",
    "1.5MiB,-1"
  })
  void bytesHaveUnits(String text, long bytes) {
    assertThat(ByteUnits.parse(text)).isEqualTo(bytes);
  }

  @Test
  void tiersAreTheOnesOfTheInterface() throws ConfigException {
    for (Durability tier : Durability.values()) {
      String name = tier.name().toLowerCase(Locale.ROOT);
      assertThat(
              read("destinations.tier = \"" + name + "\"")
                  .node()
                  .broker()
                  .destinations()
                  .settings()
                  .tier())
          .isEqualTo(tier);
    }
  }
}
