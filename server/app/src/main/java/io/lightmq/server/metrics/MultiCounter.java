package io.lightmq.server.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** A counter with changing sets of labels: what a reading no longer has is removed. One thread. */
final class MultiCounter {
  private final MeterRegistry registry;
  private final String name;
  private final String help;
  private final Map<Tags, Row> rows = new HashMap<>();

  private record Row(AtomicLong value, FunctionCounter counter) {}

  MultiCounter(MeterRegistry registry, String name, String help) {
    this.registry = registry;
    this.name = name;
    this.help = help;
  }

  void set(Map<Tags, Long> values) {
    Iterator<Map.Entry<Tags, Row>> old = rows.entrySet().iterator();
    while (old.hasNext()) {
      Map.Entry<Tags, Row> row = old.next();
      if (!values.containsKey(row.getKey())) {
        registry.remove(row.getValue().counter());
        old.remove();
      }
    }
    values.forEach((tags, value) -> rows.computeIfAbsent(tags, this::register).value().set(value));
  }

  private Row register(Tags tags) {
    AtomicLong value = new AtomicLong();
    FunctionCounter counter =
        FunctionCounter.builder(name, value, AtomicLong::doubleValue)
            .tags(tags)
            .description(help)
            .register(registry);
    return new Row(value, counter);
  }
}
