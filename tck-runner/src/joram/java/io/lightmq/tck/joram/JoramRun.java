package io.lightmq.tck.joram;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import junit.framework.TestCase;
import junit.framework.TestFailure;
import junit.framework.TestResult;
import junit.framework.TestSuite;
import org.objectweb.jtests.jms.conform.connection.ConnectionTest;
import org.objectweb.jtests.jms.conform.connection.TopicConnectionTest;
import org.objectweb.jtests.jms.conform.message.MessageBodyTest;
import org.objectweb.jtests.jms.conform.message.MessageDefaultTest;
import org.objectweb.jtests.jms.conform.message.MessageTypeTest;
import org.objectweb.jtests.jms.conform.message.headers.MessageHeaderTest;
import org.objectweb.jtests.jms.conform.message.properties.JMSXPropertyTest;
import org.objectweb.jtests.jms.conform.message.properties.MessagePropertyConversionTest;
import org.objectweb.jtests.jms.conform.message.properties.MessagePropertyTest;
import org.objectweb.jtests.jms.conform.queue.QueueBrowserTest;
import org.objectweb.jtests.jms.conform.queue.TemporaryQueueTest;
import org.objectweb.jtests.jms.conform.selector.SelectorSyntaxTest;
import org.objectweb.jtests.jms.conform.selector.SelectorTest;
import org.objectweb.jtests.jms.conform.session.QueueSessionTest;
import org.objectweb.jtests.jms.conform.session.SessionTest;
import org.objectweb.jtests.jms.conform.session.TopicSessionTest;
import org.objectweb.jtests.jms.conform.session.UnifiedSessionTest;
import org.objectweb.jtests.jms.conform.topic.TemporaryTopicTest;

/**
 * Runs the JORAM suite against one broker and compares its failures with the list of expected ones.
 *
 * <p>Arguments: {@code process} or {@code mem}, the list, a directory to work in, and optionally a
 * part of test names. Each test has a thread and a time limit of its own, so that one that hangs is
 * a failure with a stack trace and not the end of the run.
 */
public final class JoramRun {

  private static final String PREFIX = "org.objectweb.jtests.jms.conform.";
  private static final long TEST_LIMIT_MILLIS = 60_000;
  private static final int REASON_LENGTH = 300;

  private static final List<Class<? extends TestCase>> CLASSES =
      List.of(
          ConnectionTest.class,
          TopicConnectionTest.class,
          MessageBodyTest.class,
          MessageDefaultTest.class,
          MessageTypeTest.class,
          MessageHeaderTest.class,
          JMSXPropertyTest.class,
          MessagePropertyConversionTest.class,
          MessagePropertyTest.class,
          TemporaryQueueTest.class,
          TemporaryTopicTest.class,
          QueueSessionTest.class,
          SessionTest.class,
          TopicSessionTest.class,
          UnifiedSessionTest.class,
          SelectorSyntaxTest.class,
          SelectorTest.class,
          QueueBrowserTest.class);

  private JoramRun() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    String part = arguments.length > 3 ? arguments[3] : "";
    ExpectedFailures expected = ExpectedFailures.read(Path.of(arguments[1])).containing(part);
    Summary summary;
    try (ConformanceBroker broker = broker(arguments[0], Path.of(arguments[2]))) {
      LightmqAdmin.use(broker);
      summary = new Summary(runAll(part), expected);
      LightmqAdmin.closeConnections();
    }
    System.err.flush();
    summary.lines().forEach(System.out::println);
    System.out.flush();
    System.exit(summary.isAsExpected() ? 0 : 1);
  }

  private static ConformanceBroker broker(String kind, Path work)
      throws IOException, InterruptedException {
    return switch (kind) {
      case "process" -> ConformanceBroker.process(work);
      case "mem" -> ConformanceBroker.inMemory();
      default -> throw new IllegalArgumentException("expected process or mem, found " + kind);
    };
  }

  private static List<Outcome> runAll(String part) throws InterruptedException {
    List<Outcome> outcomes = new ArrayList<>();
    for (Class<? extends TestCase> type : CLASSES) {
      for (junit.framework.Test test : Collections.list(new TestSuite(type).tests())) {
        String name = name(type, test);
        if (name.contains(part)) {
          Outcome outcome = run(name, test);
          System.err.printf(
              "%3d %s %s %d ms%n",
              outcomes.size() + 1, outcome.passed() ? "ok    " : "failed", name, outcome.millis());
          outcomes.add(outcome);
        }
      }
    }
    return outcomes;
  }

  private static String name(Class<? extends TestCase> type, junit.framework.Test test) {
    String method = test instanceof TestCase testCase ? testCase.getName() : test.toString();
    return type.getName().substring(PREFIX.length()) + "#" + method;
  }

  private static Outcome run(String name, junit.framework.Test test) throws InterruptedException {
    TestResult result = new TestResult();
    Thread thread = new Thread(() -> test.run(result), name);
    thread.setDaemon(true);
    long began = System.nanoTime();
    thread.start();
    thread.join(TEST_LIMIT_MILLIS);
    long millis = (System.nanoTime() - began) / 1_000_000;
    if (thread.isAlive()) {
      String where =
          Arrays.stream(thread.getStackTrace())
              .limit(12)
              .map(StackTraceElement::toString)
              .collect(Collectors.joining(" < "));
      thread.interrupt();
      return new Outcome(name, "hung for " + millis + " ms at " + where, millis);
    }
    return new Outcome(name, reason(result), millis);
  }

  private static String reason(TestResult result) {
    List<TestFailure> all = new ArrayList<>(Collections.list(result.failures()));
    all.addAll(Collections.list(result.errors()));
    if (all.isEmpty()) {
      return null;
    }
    Throwable thrown = all.get(0).thrownException();
    StringBuilder words = new StringBuilder(String.valueOf(thrown).strip());
    for (Throwable cause = thrown.getCause(); cause != null; cause = cause.getCause()) {
      words.append(" <- ").append(cause);
    }
    String line = words.toString().replaceAll("\\s+", " ");
    return line.length() > REASON_LENGTH ? line.substring(0, REASON_LENGTH) + "..." : line;
  }
}
