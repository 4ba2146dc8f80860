package io.lightmq.tck.suite;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * The process that lists or runs tests of the TCK's JUnit form: {@code list <classes> <tests>} or
 * {@code run <tests> <results>}, each a file with lines. Methods run in the order of their names.
 */
final class JUnitMain {

  private static final String ORDER_KEY = "junit.jupiter.testmethod.order.default";
  private static final String BY_NAME = "org.junit.jupiter.api.MethodOrderer$MethodName";

  private JUnitMain() {}

  public static void main(String[] arguments) throws IOException {
    List<String> input = Files.readAllLines(Path.of(arguments[1]));
    Path output = Path.of(arguments[2]);
    Launcher launcher = LauncherFactory.create();
    switch (arguments[0]) {
      case "list" -> Files.write(output, list(launcher, input));
      case "run" -> {
        hearSuite();
        try (ResultFile results = new ResultFile(output)) {
          launcher.execute(
              request(input.stream().map(test -> selectMethod(JUnitSuite.PACKAGE + test)).toList()),
              results);
        }
      }
      default -> throw new IllegalArgumentException("expected list or run, found " + arguments[0]);
    }
    // A test may leave connections open, whose threads would keep this process up.
    System.exit(0);
  }

  /**
   * Lets the suite's own library print what it catches, which it does only once somebody has named
   * a writer. Without it a failure has less words, no more.
   */
  private static void hearSuite() {
    try {
      Class.forName("com.sun.ts.lib.util.TestUtil")
          .getMethod("setAdditionalWriter", PrintWriter.class)
          .invoke(null, new PrintWriter(System.err, true));
    } catch (ReflectiveOperationException e) {
      System.err.println("the suite's library keeps what it catches to itself: " + e);
    }
  }

  /** The name of a test in lists and results. */
  static String name(TestIdentifier test) {
    TestSource source = test.getSource().orElseThrow();
    MethodSource method = (MethodSource) source;
    return method.getClassName().substring(JUnitSuite.PACKAGE.length())
        + "#"
        + method.getMethodName();
  }

  private static Set<String> list(Launcher launcher, List<String> classes) {
    TestPlan plan =
        launcher.discover(request(classes.stream().map(name -> selectClass(name)).toList()));
    Set<String> names = new TreeSet<>();
    for (TestIdentifier root : plan.getRoots()) {
      for (TestIdentifier found : plan.getDescendants(root)) {
        if (found.isTest()) {
          names.add(name(found));
        }
      }
    }
    return names;
  }

  private static LauncherDiscoveryRequest request(List<? extends DiscoverySelector> selectors) {
    return LauncherDiscoveryRequestBuilder.request()
        .selectors(selectors)
        .configurationParameter(ORDER_KEY, BY_NAME)
        .build();
  }
}
