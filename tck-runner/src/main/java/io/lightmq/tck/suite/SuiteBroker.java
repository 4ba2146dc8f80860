package io.lightmq.tck.suite;

import io.lightmq.node.security.RoleAuthorizer;
import io.lightmq.node.security.UserStore;
import io.lightmq.samples.broker.BrokerProcess;
import io.lightmq.samples.broker.BrokerSetup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** The broker that a worker's tests talk to, with the users that the suite needs. */
sealed interface SuiteBroker extends AutoCloseable {

  /** Java machines that have just started are slow where many of them run side by side. */
  String PATIENCE =
      """
      [limits]
      handshake-millis = 30000
      """;

  /** What clients connect to. */
  String uri();

  /** Stops the broker and starts it again on its data. */
  void restart() throws IOException, InterruptedException;

  @Override
  void close();

  /** A broker process with an empty data directory; connections without a user are let in. */
  static SuiteBroker process(Path work) throws IOException, InterruptedException {
    BrokerSetup setup = BrokerSetup.in(work).withConfiguration(PATIENCE);
    createUser(setup.data());
    return new OwnProcess(BrokerProcess.start(setup));
  }

  /** A broker inside each process of tests, gone with it; its users are the same. */
  static SuiteBroker embedded(Path work) throws IOException {
    Path data = work.resolve("data");
    createUser(data);
    return new Embedded("lightmq:file:" + data.toAbsolutePath() + "?keep=true");
  }

  private static void createUser(Path data) throws IOException {
    Files.createDirectories(data);
    UserStore.open(data, true, false)
        .put(AdministeredObjects.USER, AdministeredObjects.USER, Set.of(RoleAuthorizer.USER));
  }

  /** See {@link #process}. */
  final class OwnProcess implements SuiteBroker {

    private BrokerProcess process;

    private OwnProcess(BrokerProcess process) {
      this.process = process;
    }

    @Override
    public String uri() {
      return process.setup().uri("connectTimeoutMillis=30000");
    }

    @Override
    public void restart() throws IOException, InterruptedException {
      process.close();
      process = BrokerProcess.start(process.setup());
    }

    @Override
    public void close() {
      process.close();
    }
  }

  /**
   * See {@link #embedded}.
   *
   * @param uri what clients connect to
   */
  record Embedded(String uri) implements SuiteBroker {

    @Override
    public void restart() {
      // It ends with the process of each class anyway.
    }

    @Override
    public void close() {
      // It has ended with the process of the tests.
    }
  }
}
