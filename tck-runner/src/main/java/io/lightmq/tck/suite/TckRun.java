package io.lightmq.tck.suite;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs the Jakarta Messaging TCK: {@code TckRun <work folder> <jar or folder> [filter] [options]}.
 * Exit code 0: every test passed; 1: one did not; 2: the run itself failed. The report is written
 * anew after each class, so that a run that was interrupted can be resumed.
 */
@SuppressWarnings("SystemOut") // a program for the terminal
public final class TckRun {

  private static final String REPORT = "report.txt";

  private final TckOptions options;
  private final Path work;
  private final List<TestOutcome> outcomes = Collections.synchronizedList(new ArrayList<>());

  private TckRun(TckOptions options, Path work) {
    this.options = options;
    this.work = work;
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    TckOptions.HELP.check(arguments);
    List<String> words = Arrays.asList(arguments);
    TckOptions options;
    try {
      options = TckOptions.parse(words.subList(1, words.size()));
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      return;
    }
    Path work = Path.of(arguments[0]);
    int code;
    try {
      Report report = new TckRun(options, work).run();
      report.write(work.resolve(REPORT));
      System.err.flush();
      report.lines().forEach(System.out::println);
      System.out.flush();
      code = report.isClean() ? 0 : 1;
    } catch (ExecutionException | IllegalArgumentException e) {
      System.err.println("the run failed: " + (e.getCause() == null ? e : e.getCause()));
      code = 2;
    }
    System.exit(code);
  }

  private Report run() throws IOException, InterruptedException, ExecutionException {
    Suite suite = Suite.at(options.suite(), work);
    Path listing = Files.createDirectories(work.resolve("list"));
    Map<String, List<String>> byClass = new LinkedHashMap<>();
    for (String test : suite.tests(listing)) {
      if (options.wants(test)) {
        byClass
            .computeIfAbsent(test.substring(0, test.indexOf('#')), name -> new ArrayList<>())
            .add(test);
      }
    }
    if (options.resumes()) {
      resume(byClass);
      if (byClass.isEmpty()) {
        return new Report(outcomes);
      }
    }
    if (byClass.isEmpty()) {
      throw new IllegalArgumentException("no test has \"" + options.filter() + "\" in its name");
    }
    Queue<String> waiting = new ConcurrentLinkedQueue<>(byClass.keySet());
    int jobs = Math.min(options.jobs(), byClass.size());
    ExecutorService workers = Executors.newFixedThreadPool(jobs);
    try {
      List<Future<?>> ends = new ArrayList<>();
      for (int job = 1; job <= jobs; job++) {
        Path folder = Files.createDirectories(work.resolve("job-" + job));
        ends.add(
            workers.submit(
                () -> {
                  runClasses(suite, folder, waiting, byClass);
                  return null;
                }));
      }
      for (Future<?> end : ends) {
        end.get();
      }
    } finally {
      workers.shutdownNow();
    }
    return new Report(outcomes);
  }

  /**
   * Takes over what the report of an earlier run tells, and leaves out classes that it had done.
   */
  private void resume(Map<String, List<String>> byClass) throws IOException {
    Report earlier = Report.read(work.resolve(REPORT));
    int before = byClass.size();
    for (String name : List.copyOf(byClass.keySet())) {
      List<TestOutcome> known = earlier.of(byClass.getOrDefault(name, List.of()));
      if (known.size() == byClass.getOrDefault(name, List.of()).size()) {
        outcomes.addAll(known);
        byClass.remove(name);
      }
    }
    System.err.printf(
        "%d of %d classes were done before, with %d tests%n",
        before - byClass.size(), before, outcomes.size());
  }

  /** Takes classes until there are none, all of them on one broker. */
  private void runClasses(
      Suite suite, Path folder, Queue<String> waiting, Map<String, List<String>> byClass)
      throws IOException, InterruptedException {
    try (SuiteBroker broker =
        options.embedded() ? SuiteBroker.embedded(folder) : SuiteBroker.process(folder)) {
      Suite.Runner runner = suite.runner(folder, broker.uri(), options.timeoutMillis());
      boolean first = true;
      for (String next = waiting.poll(); next != null; next = waiting.poll()) {
        if (options.restarts() && !first) {
          broker.restart();
        }
        first = false;
        List<TestOutcome> results = runner.run(next, byClass.getOrDefault(next, List.of()));
        outcomes.addAll(results);
        keep();
        tell(next, results);
      }
    }
  }

  private void keep() throws IOException {
    synchronized (outcomes) {
      new Report(outcomes).write(work.resolve(REPORT));
    }
  }

  private static void tell(String className, List<TestOutcome> results) {
    long passed =
        results.stream().filter(outcome -> outcome.status() == TestOutcome.Status.PASSED).count();
    long millis = results.stream().mapToLong(TestOutcome::millis).sum();
    System.err.printf(
        "%-60s %3d of %3d passed in %d s%n", className, passed, results.size(), millis / 1000);
    for (TestOutcome outcome : results) {
      if (outcome.status() != TestOutcome.Status.PASSED) {
        System.err.printf(
            "    %s %s: %s%n", outcome.status().word(), outcome.test(), outcome.reason());
      }
    }
  }
}
