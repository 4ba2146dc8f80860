package io.lightmq.samples.bench;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.samples.Usage;
import jakarta.jms.JMSException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A process that puts loads on a broker, so that each build is measured with its own client. For
 * each line with a load's name and milliseconds it answers with messages a second. It ends with its
 * input, so that it does not outlive whoever started it.
 */
final class LoadClient implements AutoCloseable {

  private static final String ANSWER = "per second ";

  private final Process process;
  private final BufferedReader answers;

  private LoadClient(Process process) {
    this.process = process;
    answers = process.inputReader(StandardCharsets.UTF_8);
  }

  static LoadClient start(String uri, String classPath) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx1g");
    command.add(
        "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile", ""));
    command.addAll(List.of("-cp", classPath, LoadClient.class.getName(), uri));
    return new LoadClient(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  double perSecond(PairedLoad load, long millis) throws IOException {
    process.outputWriter(StandardCharsets.UTF_8).append(load.name() + " " + millis + "\n").flush();
    String line = answers.readLine();
    if (line == null || !line.startsWith(ANSWER)) {
      throw new IOException("the client answered " + load + " with '" + line + "'");
    }
    double perSecond = Double.parseDouble(line.substring(ANSWER.length()));
    if (perSecond <= 0) {
      throw new IOException(
          "not one message of %s came in %,d ms; the machine is too busy to measure"
              .formatted(load.title(), millis));
    }
    return perSecond;
  }

  @Override
  public void close() {
    process.destroy();
  }

  public static void main(String[] arguments)
      throws IOException, JMSException, InterruptedException {
    String[] given =
        Usage.of("usage: LoadClient URI   takes lines of a load and its milliseconds", 1)
            .check(arguments);
    LightmqConnectionFactory factory = new LightmqConnectionFactory(given[0]);
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    Thread reader = new Thread(() -> read(lines), "read");
    reader.setDaemon(true);
    reader.start();
    while (true) {
      String[] words = lines.take().split(" ", 2);
      double rate = PairedLoad.valueOf(words[0]).perSecond(factory, Long.parseLong(words[1]));
      System.out.println(ANSWER + rate);
    }
  }

  /** Whoever asked is gone when the input ends, be it in the midst of a load. */
  private static void read(Queue<String> lines) {
    try (BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      String line = input.readLine();
      while (line != null) {
        lines.add(line);
        line = input.readLine();
      }
    } catch (IOException e) {
      System.err.println("the input broke: " + e);
    }
    Runtime.getRuntime().halt(0);
  }
}
