package io.lightmq.samples.broker;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One reading of a broker's {@code /metrics} page.
 *
 * @param samples the values by full name, labels included
 */
public record BrokerMetrics(Map<String, Double> samples) {

  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final HttpClient CLIENT = HttpClient.newBuilder().connectTimeout(LIMIT).build();

  public BrokerMetrics {
    samples = Map.copyOf(samples);
  }

  /** Reads the page of the broker that was started with this setup. */
  public static BrokerMetrics of(BrokerSetup setup) throws IOException, InterruptedException {
    URI page = URI.create("http://127.0.0.1:" + setup.adminPort() + "/metrics");
    HttpRequest request = HttpRequest.newBuilder(page).timeout(LIMIT).build();
    HttpResponse<String> answer = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new IOException(page + " answered " + answer.statusCode() + ": " + answer.body());
    }
    return parse(answer.body());
  }

  /** Reads the Prometheus text format. */
  public static BrokerMetrics parse(String text) {
    Map<String, Double> samples = new LinkedHashMap<>();
    for (String line : text.lines().toList()) {
      int space = line.lastIndexOf(' ');
      if (!line.startsWith("#") && space > 0) {
        String value = line.substring(space + 1);
        samples.put(line.substring(0, space), parseValue(value));
      }
    }
    return new BrokerMetrics(samples);
  }

  /** The sum of all samples with this name whose labels contain the given text. */
  public double sum(String name, String label) {
    return samples.entrySet().stream()
        .filter(sample -> sample.getKey().equals(name) || sample.getKey().startsWith(name + "{"))
        .filter(sample -> sample.getKey().contains(label))
        .mapToDouble(Map.Entry::getValue)
        .sum();
  }

  /** Whether there is a sample with this name. */
  public boolean has(String name) {
    return samples.keySet().stream()
        .anyMatch(sample -> sample.equals(name) || sample.startsWith(name + "{"));
  }

  private static double parseValue(String value) {
    return switch (value) {
      case "+Inf" -> Double.POSITIVE_INFINITY;
      case "-Inf" -> Double.NEGATIVE_INFINITY;
      default -> Double.parseDouble(value);
    };
  }
}
