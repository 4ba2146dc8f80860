package io.lightmq.tck.faults;

import io.lightmq.samples.broker.BrokerSetup;
import io.lightmq.wire.entry.NearNames;
import jakarta.jms.JMSException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * All fault scenarios. A new one is a class whose run gives a {@link Verdict}, an entry here and a
 * line in docs/testing.md.
 */
final class Scenarios {

  static final List<Scenario> ALL =
      List.of(
          new Scenario(
              "--kill",
              "ROUNDS [SEED]",
              "SIGKILL under load",
              call ->
                  new KillRounds(call.setup(), call.events(), call.seed(1))
                      .run(call.number(0, 10))),
          new Scenario(
              "--powercut ext4",
              "ROUNDS [SEED]",
              "the file system loses its power (root, loop devices)",
              call -> powerCuts("ext4", call)),
          new Scenario(
              "--powercut xfs",
              "ROUNDS [SEED]",
              "the same with xfs",
              call -> powerCuts("xfs", call)),
          new Scenario(
              "--stop-client",
              "[SECONDS]",
              "SIGSTOP of a client with messages in hand (60)",
              call -> new StoppedClient(call.setup(), call.number(0, 60)).run()),
          new Scenario(
              "--memory",
              "[MESSAGES]",
              "a backlog far above -Xmx128m (1,000,000)",
              call -> new MemoryLimit(call.setup(), call.number(0, 1_000_000)).run()),
          new Scenario(
              "--memory --non-persistent",
              "[MESSAGES]",
              "the same of messages that no disk keeps (1,000,000)",
              call -> new UnloggedBacklog(call.setup(), call.number(0, 1_000_000)).run()),
          new Scenario(
              "--duplicates",
              "[MESSAGES] [SEED]",
              "each tenth sent twice, consumer and broker killed (1,000,000)",
              call ->
                  new DuplicateRounds(call.setup(), call.number(0, 1_000_000), call.seed(1)).run()),
          new Scenario(
              "--at-most-once",
              "ROUNDS [SEED]",
              "consumers that may lose but not repeat; client and broker killed",
              call ->
                  new AtMostOnce(call.setup(), call.events(), null, call.seed(1))
                      .run(call.number(0, 10))),
          new Scenario(
              "--at-most-once ext4",
              "ROUNDS [SEED]",
              "the same with power cuts",
              call -> atMostOnce("ext4", call)),
          new Scenario(
              "--at-most-once xfs",
              "ROUNDS [SEED]",
              "the same with power cuts of xfs",
              call -> atMostOnce("xfs", call)),
          new Scenario(
              "--groups",
              "[MESSAGES] [SEED]",
              "10,000 groups, eight consumers that come and go (1,000,000)",
              call -> new GroupRounds(call.setup(), call.number(0, 1_000_000), call.seed(1)).run()),
          new Scenario(
              "--half-acked",
              "[MESSAGES]",
              "every second, then all but 1 % acknowledged (1,000,000)",
              call -> new HalfAcknowledged(call.setup(), call.number(0, 1_000_000)).run()),
          new Scenario(
              "--checkpoint-gap",
              "[SECONDS]",
              "what 17 senders notice of checkpoints (30)",
              call -> new CheckpointGap(call.setup(), call.number(0, 30)).run()),
          new Scenario(
              "--delayed",
              "[MESSAGES]",
              "delayed messages beside busy senders: none early, none lost (100,000)",
              call -> DelayedSoak.run(call.setup(), call.number(0, 100_000))),
          new Scenario(
              "--many-queues",
              "[QUEUES] [SECONDS]",
              "scraped each second with -Xmx128m, then killed (20,000, 60)",
              call ->
                  new ManyQueues(call.setup(), call.number(0, 20_000), call.number(1, 60)).run()),
          new Scenario(
              "--close",
              "",
              "connections closed in order while their listeners work",
              call -> new OrderlyClose(call.setup()).run()),
          new Scenario(
              "--temporary",
              "ROUNDS [SEED]",
              "requests and replies over resets and kills",
              call -> new TemporaryRounds(call.setup(), call.seed(1)).run(call.number(0, 20))),
          new Scenario(
              "--temporary-churn",
              "[MINUTES]",
              "temporary queues made and deleted with -Xmx128m, heap flat (5)",
              call -> new TemporaryChurn(call.setup(), call.number(0, 5)).run()),
          new Scenario(
              "--failover",
              "ROUNDS [SEED]",
              "a transacted pipeline over kills and cuts, three and one a round",
              FailoverRounds::run),
          new Scenario(
              "--xa",
              "ROUNDS [SEED] [forgetful]",
              "distributed transactions, a kill at each of twelve points a round",
              call -> XaRounds.run(call, call.setup(), null)),
          new Scenario(
              "--xa ext4",
              "ROUNDS [SEED] [forgetful]",
              "the same; the broker's disk loses its power instead",
              call -> distributed("ext4", call)),
          new Scenario(
              "--xa xfs",
              "ROUNDS [SEED] [forgetful]",
              "the same with xfs",
              call -> distributed("xfs", call)),
          new Scenario(
              "--transactions",
              "ROUNDS [MESSAGES] [SEED]",
              "a million messages in one transaction, killed in the midst",
              LongTransactions::run),
          new Scenario(
              "--flood",
              "[CONNECTIONS] [SECONDS]",
              "connections that send and never consume (200, 10)",
              call -> new Flood(call.setup(), call.number(0, 200), call.number(1, 10)).run()),
          new Scenario(
              "--fuzz",
              "[FRAMES] [SEED]",
              "hostile frames at a broker and at clients (1,000,000)",
              call ->
                  new Fuzz(call.setup(), call.events(), call.number(0, 1_000_000), call.seed(1))
                      .run()),
          new Scenario(
              "--strangers",
              "[SECONDS] [ATTACK...]",
              "what one stranger can use up; each attack at most 20 s",
              call ->
                  new Strangers(
                          call.setup(),
                          call.events(),
                          call.number(0, 20),
                          call.arguments().stream().skip(1).toList())
                      .run()));

  private Scenarios() {}

  /** The one with the longest name that these words begin with. */
  static Scenario namedBy(List<String> typed) throws HarnessException {
    return ALL.stream()
        .filter(scenario -> scenario.isNamedBy(typed))
        .max(Comparator.comparingInt(scenario -> scenario.words().size()))
        .orElseThrow(
            () ->
                new HarnessException("no scenario in " + typed + nearest(typed) + "\n" + usage()));
  }

  private static String nearest(List<String> typed) {
    List<String> known = new ArrayList<>(List.of("--list", "--help"));
    ALL.forEach(scenario -> known.add(scenario.name()));
    List<String> near = NearNames.of(String.join(" ", typed), known, 1);
    return near.isEmpty() ? "" : "; the nearest is " + near.get(0);
  }

  static String usage() {
    StringBuilder text = new StringBuilder("usage: faults.sh SCENARIO [ARGUMENTS] [--rounds R]\n");
    text.append("  --list                                the name of each scenario\n");
    for (Scenario scenario : ALL) {
      text.append(
          "  %-37s %s%n"
              .formatted(scenario.name() + " " + scenario.arguments(), scenario.summary()));
    }
    return text.toString();
  }

  private static Verdict powerCuts(String fileSystem, Call call)
      throws HarnessException, IOException, JMSException, InterruptedException {
    try (LoopDisk disk = LoopDisk.create(fileSystem, call.setup().work())) {
      BrokerSetup onDisk = on(disk, call);
      return new PowerCuts(onDisk, disk, call.events(), call.seed(1)).run(call.number(0, 10));
    }
  }

  private static Verdict atMostOnce(String fileSystem, Call call)
      throws HarnessException, IOException, JMSException, InterruptedException {
    try (LoopDisk disk = LoopDisk.create(fileSystem, call.setup().work())) {
      BrokerSetup onDisk = on(disk, call);
      return new AtMostOnce(onDisk, call.events(), disk, call.seed(1)).run(call.number(0, 10));
    }
  }

  private static Verdict distributed(String fileSystem, Call call)
      throws HarnessException, IOException, JMSException, InterruptedException {
    try (LoopDisk disk = LoopDisk.create(fileSystem, call.setup().work())) {
      return XaRounds.run(call, on(disk, call), disk);
    }
  }

  private static BrokerSetup on(LoopDisk disk, Call call) {
    return call.setup().withData(disk.mountPoint().resolve("data"));
  }
}
