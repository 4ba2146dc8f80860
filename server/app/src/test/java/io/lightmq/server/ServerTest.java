package io.lightmq.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lightmq.server.config.ServerConfig;
import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A broker with its command line and admin port, all in this process. */
class ServerTest {
  private static final String SMALL =
      """
      [listener]
      port = 0
      [http]
      port = 0
      [memory]
      window = "16MiB"
      [journal]
      file = "8MiB"
      [data]
      ballast = 0
      min-free = 0
      [destination."fast.*"]
      tier = "performance"
      """;

  @TempDir Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final List<String> passwords = new ArrayList<>();
  private Server server;
  private Path passwordFile;

  @BeforeEach
  void start() throws Exception {
    server = Server.start(config(), false, passwords::add);
    assertThat(passwords).hasSize(1);
    passwordFile = Files.writeString(directory.resolve("password"), passwords.get(0) + "\n");
  }

  private ServerConfig config() throws Exception {
    Path file = Files.writeString(directory.resolve("lightmq.toml"), SMALL);
    return ServerConfig.read(file, 512L << 20).withDataDirectory(directory.resolve("data"));
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  private int command(String... arguments) {
    return commandWith(passwordFile.toString(), arguments);
  }

  private int commandWith(String secretFile, String... arguments) {
    List<String> all = new ArrayList<>(List.of("destination"));
    all.addAll(List.of(arguments));
    return execute(secretFile, all);
  }

  private int execute(String secretFile, List<String> arguments) {
    List<String> all = new ArrayList<>(arguments);
    int port = ((InetSocketAddress) server.addresses().get(0)).getPort();
    all.addAll(List.of("--port", String.valueOf(port)));
    if (!secretFile.isEmpty()) {
      all.addAll(List.of("--password-file", secretFile));
    }
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    return commandLine.execute(all.toArray(new String[0]));
  }

  private HttpResponse<String> get(String path) throws Exception {
    int port = server.httpAddress().orElseThrow().getPort();
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
            HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void aValueThatIsNoneOfAFewIsRefusedWithTheNearest() {
    assertThat(command("create", "queue", "orders", "--tier", "balancd")).isPositive();
    assertThat(err.toString())
        .contains("must be one of", "performance, balanced, high", "the nearest is 'balanced'");
  }

  @Test
  void destinationsAreCreatedShownChangedListedPurgedAndDeleted() {
    assertThat(command("create", "queue", "orders")).as(err.toString()).isZero();
    assertThat(command("show", "queue", "orders")).isZero();
    assertThat(out.toString()).contains("name", "orders", "high");
    assertThat(command("set", "queue", "orders", "--tier", "balanced")).isZero();
    assertThat(command("show", "queue", "orders", "--json")).isZero();
    assertThat(out.toString()).startsWith("{").contains("\"tier\":\"balanced\"");
    assertThat(command("create", "topic", "fast.prices")).isZero();
    assertThat(command("list")).isZero();
    assertThat(out.toString()).startsWith("NAME").contains("orders", "fast.prices", "performance");
    assertThat(command("purge", "queue", "orders")).isZero();
    assertThat(command("delete", "queue", "orders")).isZero();
    assertThat(command("show", "queue", "orders")).isEqualTo(1);
    assertThat(err.toString()).contains("INVALID_DESTINATION").contains("orders");
  }

  @Test
  void everyListOfAFreshBrokerIsNoErrorAndSaysWhatThereIsNoneOf() {
    Set<String> said = new TreeSet<>();
    Main.commandLine()
        .getSubcommands()
        .forEach(
            (name, command) -> {
              if (command.getSubcommands().containsKey("list")) {
                assertThat(execute(passwordFile.toString(), List.of(name, "list")))
                    .as(name + " list: " + err)
                    .isZero();
                said.add(name + ": " + out.toString().lines().findFirst().orElse("nothing"));
              }
            });
    assertThat(said)
        .containsExactly(
            "damaged: no damaged messages",
            "dead-letters: no dead letters",
            "delayed: no delayed messages",
            "destination: no destinations",
            "link: links          1",
            "subscription: no subscriptions",
            "user: NAME   ROLES",
            "xa: no branches");
  }

  @Test
  void wrongPasswordAndMissingRightHaveTheirExitCodes() throws IOException {
    Path wrong = Files.writeString(directory.resolve("wrong"), "guess\n");
    assertThat(commandWith(wrong.toString(), "list")).isEqualTo(4);
    assertThat(err.toString()).contains("AUTHENTICATION_FAILED");
  }

  @Test
  void whoAsksWithoutAPasswordIsToldHowToGiveOne() {
    assertThat(commandWith("", "list")).isEqualTo(1);
    assertThat(err.toString())
        .contains("NOT_AUTHORIZED", "as anonymous", "--user", "--password-file")
        .contains("LIGHTMQ_PASSWORD");
  }

  @Test
  void theAdminPortTellsHealthReadinessAndMetrics() throws Exception {
    assertThat(get("/healthz").statusCode()).isEqualTo(200);
    assertThat(get("/readyz").body()).isEqualTo("ready\n");
    HttpResponse<String> metrics = get("/metrics");
    assertThat(metrics.statusCode()).isEqualTo(200);
    assertThat(metrics.body())
        .contains("lightmq_connections 0.0")
        .contains("lightmq_journal_capacity_bytes")
        .contains("lightmq_direct_total_bytes");
  }

  @Test
  void theReadyLineNamesAddressesAndDirectory() {
    assertThat(server.readyLine())
        .matches("LightMQ ready on 127\\.0\\.0\\.1:\\d+, admin on http://127\\.0\\.0\\.1:\\d+, .*")
        .endsWith("data in " + directory.resolve("data"));
  }

  @Test
  void aSecondBrokerOnTheSameDirectoryIsRefused() {
    assertThatThrownBy(() -> Server.start(config(), false, passwords::add))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(directory.resolve("data").toString());
  }

  private ServerConfig elsewhere(String key, String value) throws Exception {
    Path file = Files.writeString(directory.resolve("other.toml"), SMALL.replaceFirst(key, value));
    return ServerConfig.read(file, 512L << 20).withDataDirectory(directory.resolve("other"));
  }

  @Test
  void aPortInUseIsNamedWithItsKeys() throws Exception {
    int taken = ((InetSocketAddress) server.addresses().get(0)).getPort();
    int http = server.httpAddress().orElseThrow().getPort();
    record Case(String key, String value, int port, String keys) {}
    for (Case each :
        List.of(
            new Case("port = 0", "port = " + taken, taken, "listener.host and listener.port"),
            new Case(
                "port = 0",
                "port = 0\nfurther = [\"127.0.0.1:" + taken + "\"]",
                taken,
                "listener.further"),
            new Case("port = 0\n\\[memory]", "port = " + http + "\n[memory]", http, "http.port"))) {
      assertThatThrownBy(() -> Server.start(elsewhere(each.key, each.value), false, password -> {}))
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll(
              "port " + each.port + " on 127.0.0.1 is in use by another process; ", each.keys);
    }
  }

  @Test
  void aDirectoryWithoutItsUsersIsRefusedUntilNewOnesAreAskedFor() throws Exception {
    server.close();
    Files.delete(directory.resolve("data/users"));
    assertThatThrownBy(() -> Server.start(config(), false, passwords::add))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("--new-users");
    server = Server.start(config(), true, passwords::add);
    assertThat(passwords).hasSize(2);
  }

  @Test
  void aFirstStartThatFailsMakesNoUserAndTheNextOneDoes() throws Exception {
    ServerConfig taken =
        elsewhere(
            "port = 0", "port = " + ((InetSocketAddress) server.addresses().get(0)).getPort());
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> Server.start(taken, false, passwords::add))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("in use");
      assertThat(passwords).hasSize(1);
    }
    Server.start(elsewhere("port = 0", "port = 0"), false, passwords::add).close();
    assertThat(passwords).hasSize(2);
    Server.start(elsewhere("port = 0", "port = 0"), false, passwords::add).close();
    assertThat(passwords).hasSize(2);
  }

  private int lightmq(String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    int port = ((InetSocketAddress) server.addresses().get(0)).getPort();
    all.addAll(List.of("--port", String.valueOf(port), "--password-file", passwordFile.toString()));
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    return commandLine.execute(all.toArray(new String[0]));
  }

  @Test
  void usersAreAddedChangedAndRemovedWhileTheBrokerRuns() throws Exception {
    Path first = Files.writeString(directory.resolve("first"), "one\n");
    Path second = Files.writeString(directory.resolve("second"), "two\n");
    assertThat(lightmq("user", "add", "ada", "--new-password-file", first.toString()))
        .as(err.toString())
        .isZero();
    assertThat(commandWith(first.toString(), "list", "--user", "ada"))
        .as("is let in, but may not manage")
        .isEqualTo(1);
    assertThat(err.toString()).contains("NOT_AUTHORIZED");
    assertThat(lightmq("user", "set-password", "ada", "--new-password-file", second.toString()))
        .isZero();
    assertThat(commandWith(first.toString(), "list", "--user", "ada")).isEqualTo(4);
    assertThat(commandWith(second.toString(), "list", "--user", "ada")).isEqualTo(1);
    assertThat(lightmq("user", "add", "boss", "--role", "admin", "--new-password-file", first + ""))
        .isZero();
    assertThat(commandWith(first.toString(), "list", "--user", "boss")).isZero();
    assertThat(lightmq("user", "list")).isZero();
    assertThat(out.toString()).contains("ada    user", "admin  admin", "boss   admin");
    assertThat(lightmq("user", "remove", "ada")).isZero();
    assertThat(lightmq("user", "remove", "adda")).isEqualTo(1);
    assertThat(err.toString()).contains("there is no user adda");
    assertThat(commandWith(second.toString(), "list", "--user", "ada")).isEqualTo(4);
    server.close();
    server = Server.start(config(), false, passwords::add);
    assertThat(commandWith(first.toString(), "list", "--user", "boss")).isZero();
  }

  @Test
  void onlyWhoMayManageSeesUsersAndStopsABroker() {
    for (String[] verb : new String[][] {{"user", "list"}, {"status"}, {"stop"}}) {
      List<String> all = new ArrayList<>(List.of(verb));
      int port = ((InetSocketAddress) server.addresses().get(0)).getPort();
      all.addAll(List.of("--port", String.valueOf(port)));
      CommandLine commandLine = Main.commandLine();
      commandLine.setOut(new PrintWriter(out));
      commandLine.setErr(new PrintWriter(err));
      assertThat(commandLine.execute(all.toArray(new String[0]))).isEqualTo(1);
    }
    assertThat(err.toString()).contains("NOT_AUTHORIZED");
  }

  @Test
  void statusTellsVersionTimeConnectionsBacklogAndRoom() {
    assertThat(lightmq("status")).as(err.toString()).isZero();
    assertThat(out.toString())
        .contains("version", "up seconds", "connections", "backlog", "disk usable bytes", "pid")
        .contains(String.valueOf(ProcessHandle.current().pid()));
  }

  @Test
  void stopAsksTheProcessToEndAndIsRefusedWhereNothingListens() {
    assertThat(lightmq("stop")).isEqualTo(1);
    assertThat(err.toString()).contains("part of another program");
    CountDownLatch asked = new CountDownLatch(1);
    server.whenStopIsAsked(asked::countDown);
    assertThat(lightmq("stop", "--wait", "-1")).as("asks for nothing").isEqualTo(2);
    assertThat(lightmq("stop", "--wait", "0")).as(err.toString()).isZero();
    await().until(() -> asked.getCount() == 0);
  }

  @Test
  void aMistypedQueueIsAnsweredWithTheNearestThatExists() {
    assertThat(command("create", "queue", "orders")).isZero();
    assertThat(command("show", "queue", "oders")).isEqualTo(1);
    assertThat(err.toString()).contains("there is no destination oders; did you mean orders?");
    assertThat(command("show", "topic", "oders")).isEqualTo(1);
    assertThat(err.toString()).doesNotContain("did you mean");
  }

  private String refused(String line) {
    assertThat(execute(passwordFile.toString(), List.of(line.split(" "))))
        .as(line + ": " + out + err)
        .isEqualTo(1);
    return err.toString();
  }

  @Test
  void aNameThatMatchesNothingIsToldWithTheNearestAndIsNoEmptyList() throws Exception {
    assertThat(command("create", "queue", "objects")).as(err.toString()).isZero();
    assertThat(command("create", "queue", "later")).isZero();
    assertThat(command("create", "topic", "prices")).isZero();
    assertThat(refused("destination show topic objects")).contains("objects is a queue");
    assertThat(refused("destination purge topic objects")).contains("objects is a queue");
    assertThat(refused("subscription list --topic price"))
        .contains("there is no topic price; the nearest is prices");
    assertThat(refused("subscription list --topic objects")).contains("objects is a queue");
    assertThat(refused("delayed list --destination laterr"))
        .contains("there is no destination laterr; the nearest is later");
    assertThat(refused("damaged list laterr")).contains("the nearest is later");
    assertThat(refused("damaged retry laterr")).contains("the nearest is later");
    assertThat(refused("dead-letters list --destination laterr")).contains("nearest is later");
    assertThat(refused("link list --owner amdin")).contains("no link", "the nearest is admin");
    assertThat(refused("link drop --owner amdin --older-than 1m"))
        .contains("no link belongs to the user amdin; the nearest is admin");
    assertThat(
            execute(passwordFile.toString(), List.of("subscription", "list", "--topic", "prices")))
        .isZero();
    assertThat(out.toString()).isEqualTo("no subscriptions\n");
  }

  @Test
  void aMistypedSubscriptionIsAnsweredWithTheNearest() throws Exception {
    try (RawLink link = RawLink.to(server.addresses().get(0), RawLink.At.OPEN, "")) {
      link.send(
          new Frame.AttachConsumer(
              3,
              1,
              1,
              new DestinationName(DestinationKind.TOPIC, "prices"),
              Frame.Subscribe.SHARED_DURABLE,
              "daily",
              null,
              false,
              false));
      assertThat(link.read()).isInstanceOf(Frame.ConsumerAttached.class);
    }
    assertThat(refused("subscription delete dail")).contains("the nearest is daily");
    assertThat(refused("subscription delete daily --client-id desk"))
        .contains("there is one without a client id");
    assertThat(refused("subscription list --client-id desk")).contains("client id desk");
  }

  @Test
  void nothingInTheDataDirectoryIsForOthersWhoeverMadeIt() throws Exception {
    Path made = Files.createDirectory(directory.resolve("volume"));
    Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path file = Files.writeString(directory.resolve("other.toml"), SMALL);
    ServerConfig config = ServerConfig.read(file, 512L << 20).withDataDirectory(made);
    Server.start(config, false, password -> {}).close();
    try (Stream<Path> all = Files.walk(made)) {
      assertThat(all.toList())
          .hasSizeGreaterThan(8)
          .allSatisfy(
              path ->
                  assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                      .as(path.toString())
                      .endsWith("------"));
    }
  }

  @Test
  void whatWasCreatedIsThereAfterARestartWithoutANewPassword() throws Exception {
    assertThat(command("create", "topic", "kept")).isZero();
    server.close();
    server = Server.start(config(), false, passwords::add);
    assertThat(passwords).hasSize(1);
    assertThat(command("list", "--json")).as(err.toString()).isZero();
    assertThat(out.toString()).contains("kept");
  }
}
