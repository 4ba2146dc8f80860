package io.lightmq.tck.faults;

import io.lightmq.samples.broker.BrokerSetup;
import jakarta.jms.JMSException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Runs one fault scenario; its last line is the {@link Verdict}. Exit code 0: every promise was
 * kept. 1: one was broken, or no fault fired. 2: the harness itself failed, which says nothing
 * about the broker.
 */
public final class Faults {

  private static final String ROUNDS = "--rounds";

  private Faults() {}

  public static void main(String[] arguments) {
    Locale.setDefault(Locale.ROOT);
    int code = 2;
    try {
      code = run(List.of(arguments));
    } catch (HarnessException e) {
      System.out.println("HARNESS: " + e.getMessage());
    } catch (IOException | JMSException | RuntimeException e) {
      System.out.println("HARNESS: " + e);
      e.printStackTrace();
    } catch (InterruptedException e) {
      System.out.println("HARNESS: interrupted");
    }
    System.out.flush();
    System.exit(code);
  }

  private static int run(List<String> arguments)
      throws HarnessException, IOException, JMSException, InterruptedException {
    if (arguments.equals(List.of("--list"))) {
      Scenarios.ALL.forEach(scenario -> System.out.println(scenario.name()));
      return 0;
    }
    if (arguments.contains("--help") || arguments.contains("-h")) {
      System.out.print(Scenarios.usage());
      return 0;
    }
    Scenario scenario = Scenarios.namedBy(arguments);
    Path work = Files.createTempDirectory("lightmq-faults-");
    System.out.println("logs are in " + work);
    List<String> behindName = arguments.subList(scenario.words().size(), arguments.size());
    try (EventLog events = new EventLog(work.resolve("events.log"))) {
      Verdict verdict =
          verdict(
              scenario,
              behindName,
              (round, each) -> {
                Path folder = round == 0 ? work : work.resolve("round-" + round);
                return new Call(BrokerSetup.in(Files.createDirectories(folder)), events, each);
              });
      System.out.println(verdict.line());
      return verdict.exitCode();
    }
  }

  /** Gives each run of a scenario its place. */
  interface Calls {
    /**
     * A new one.
     *
     * @param round 0 for the only run there is, else counted from 1
     */
    Call of(int round, List<String> arguments) throws IOException;
  }

  /** Runs the scenario; with {@code --rounds R} so many rounds of it, or until a promise breaks. */
  static Verdict verdict(Scenario scenario, List<String> arguments, Calls calls)
      throws HarnessException, IOException, JMSException, InterruptedException {
    int at = arguments.indexOf(ROUNDS);
    if (at < 0) {
      return scenario.work().run(calls.of(0, arguments));
    }
    List<String> others = new ArrayList<>(arguments);
    others.remove(at);
    if (at == others.size()) {
      throw new HarnessException(ROUNDS + " needs a number behind it");
    }
    String rounds = others.remove(at);
    if (scenario.repeatsItself()) {
      others.add(0, rounds);
      return scenario.work().run(calls.of(0, others));
    }
    int wanted = Call.number(rounds);
    Verdict all = Verdict.none();
    for (int round = 1; round <= wanted && all.violations() == 0; round++) {
      all = all.plus(scenario.work().run(calls.of(round, others)));
    }
    return all;
  }
}
