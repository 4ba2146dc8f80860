package io.lightmq.tck.suite;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The TCK in one of its forms. */
sealed interface Suite permits JUnitSuite, JavaTestSuite {

  /** Runs units of the suite, one at a time, on one broker. */
  interface Runner {

    /**
     * Runs tests of one unit.
     *
     * @return an outcome for each of them
     */
    List<TestOutcome> run(String unit, List<String> tests) throws IOException, InterruptedException;
  }

  /**
   * The names of all tests, as {@code unit#test}, in the order in which they are to run. A unit is
   * what runs without a pause: a class.
   *
   * @param work folder for what finding out leaves
   */
  List<String> tests(Path work) throws IOException, InterruptedException;

  /**
   * A runner.
   *
   * @param work folder for logs
   * @param uri what clients connect to
   * @param timeoutMillis how long each receive of the suite waits
   */
  Runner runner(Path work, String uri, long timeoutMillis) throws IOException;

  /**
   * The suite at a place.
   *
   * @param work folder into which a zip is unpacked
   * @throws IllegalArgumentException if there is none
   */
  static Suite at(Path location, Path work) throws IOException {
    if (location.toString().endsWith(".zip")) {
      return at(Zip.unpack(location, work.resolve("unpacked")), work);
    }
    if (Files.isDirectory(location)) {
      var bundle = JavaTestSuite.in(location);
      if (bundle.isPresent()) {
        return bundle.get();
      }
    }
    return JUnitSuite.at(location);
  }
}
