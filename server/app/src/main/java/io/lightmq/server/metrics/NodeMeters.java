package io.lightmq.server.metrics;

import io.lightmq.core.shard.BrokerMetrics;
import io.lightmq.core.shard.BrokerMetrics.DestinationUse;
import io.lightmq.core.shard.BrokerMetrics.SubscriptionUse;
import io.lightmq.node.NodeMetrics;
import io.lightmq.wire.entry.Printable;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * A node's figures in the Prometheus text format. A sampler calls {@link #sample} every ten
 * seconds, which feeds the rates and the I/O wait; a scrape reads the node once and sees one
 * moment.
 */
public final class NodeMeters implements AutoCloseable {
  private static final double NANOS = 1e9;
  private static final double MILLIS = 1e3;

  private final Supplier<NodeMetrics> node;
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final RateWindow rates = new RateWindow();
  private final IoWait ioWait = new IoWait(Path.of("/proc/stat"));
  private final JvmGcMetrics gc = new JvmGcMetrics();
  private final Map<String, MultiGauge> gauges = new HashMap<>();
  private final MultiCounter published;
  private final MultiCounter publishedBytes;
  private final MultiCounter acknowledged;
  private final MultiCounter expired;
  private final MultiCounter suppressed;
  private final MultiCounter selectorEvaluations;
  private final MultiCounter selectorMicros;
  private NodeMetrics current;
  private final MultiCounter keyViewMoves;
  private double ioWaitShare = Double.NaN;

  public NodeMeters(Supplier<NodeMetrics> node) {
    this.node = node;
    this.current = node.get();
    new JvmMemoryMetrics().bindTo(registry);
    gc.bindTo(registry);
    brokerMeters();
    journalMeters();
    memoryMeters();
    published =
        new MultiCounter(registry, "lightmq.published.messages", "Messages taken since start.");
    publishedBytes =
        new MultiCounter(registry, "lightmq.published.bytes", "Bytes of messages taken.");
    acknowledged =
        new MultiCounter(
            registry, "lightmq.acknowledged.messages", "Messages acknowledged since start.");
    expired = new MultiCounter(registry, "lightmq.expired.messages", "Messages that expired.");
    suppressed =
        new MultiCounter(
            registry, "lightmq.suppressed.messages", "Duplicates that no consumer got.");
    selectorEvaluations =
        new MultiCounter(
            registry,
            "lightmq.selector.evaluations",
            "Messages that the subscription's selector was evaluated on.");
    selectorMicros =
        new MultiCounter(
            registry, "lightmq.selector.micros", "Microseconds that took, from samples.");
    keyViewMoves =
        new MultiCounter(
            registry, "lightmq.key.view.moves", "Key views of groups given to a consumer.");
    multiGauge(
        "lightmq.key.views.moving",
        "Key views of groups that wait for what is in flight before they move.");
    multiGauge("lightmq.backlog.messages", "Messages that are not acknowledged.");
    multiGauge("lightmq.in.flight.messages", "Messages given to consumers, not acknowledged yet.");
    multiGauge("lightmq.consumers", "Consumers of the subscription.");
    multiGauge(
        "lightmq.lag.seconds",
        "By how much the last acknowledged message is older than the newest published one.");
    multiGauge("lightmq.oldest.message.age.seconds", "Age of the oldest message of the backlog.");
    multiGauge("lightmq.produce.rate", "Messages a second over the last minute.");
    multiGauge("lightmq.consume.rate", "Acknowledgements a second over the same minute.");
    sample();
  }

  /** Takes a reading for rates and I/O wait. */
  public synchronized void sample() {
    current = node.get();
    rates.add(current.broker());
    ioWaitShare = ioWait.sinceLast();
  }

  /** All figures of this moment in the Prometheus text format. */
  public synchronized String scrape() {
    current = node.get();
    destinations(current.broker());
    return registry.scrape();
  }

  @Override
  public void close() {
    gc.close();
    registry.close();
  }

  private void destinations(BrokerMetrics broker) {
    Map<Tags, Long> publishedNow = new HashMap<>();
    Map<Tags, Long> publishedBytesNow = new HashMap<>();
    Map<Tags, Long> acknowledgedNow = new HashMap<>();
    Map<Tags, Long> expiredNow = new HashMap<>();
    Map<Tags, Long> suppressedNow = new HashMap<>();
    Map<Tags, Long> evaluationsNow = new HashMap<>();
    Map<Tags, Long> selectorMicrosNow = new HashMap<>();
    Map<Tags, Long> keyViewMovesNow = new HashMap<>();
    Map<String, List<MultiGauge.Row<?>>> rows = new HashMap<>();
    for (DestinationUse destination : broker.destinations()) {
      Tags tags =
          Tags.of(
              "destination",
              Printable.escaped(destination.name().name()),
              "kind",
              destination.name().kind().name().toLowerCase(Locale.ROOT));
      publishedNow.put(tags, destination.published());
      publishedBytesNow.put(tags, destination.publishedBytes());
      row(rows, "lightmq.produce.rate", tags, rates.produced(destination));
      for (SubscriptionUse subscription : destination.subscriptions()) {
        Tags inner = tags.and("subscription", Printable.escaped(subscription.name()));
        acknowledgedNow.put(inner, subscription.acknowledged());
        expiredNow.put(inner, subscription.expired());
        suppressedNow.put(inner, subscription.suppressed());
        if (subscription.selectorEvaluations() > 0) {
          evaluationsNow.put(inner, subscription.selectorEvaluations());
          selectorMicrosNow.put(inner, subscription.selectorNanos() / 1_000);
        }
        if (subscription.keyViewMoves() > 0) {
          keyViewMovesNow.put(inner, subscription.keyViewMoves());
          row(rows, "lightmq.key.views.moving", inner, subscription.keyViewsMoving());
        }
        row(rows, "lightmq.backlog.messages", inner, (double) subscription.backlog());
        row(rows, "lightmq.in.flight.messages", inner, (double) subscription.inFlight());
        row(rows, "lightmq.consumers", inner, subscription.consumers());
        row(rows, "lightmq.lag.seconds", inner, subscription.lagMillis() / MILLIS);
        row(
            rows,
            "lightmq.oldest.message.age.seconds",
            inner,
            subscription.oldestAgeMillis() / MILLIS);
        row(rows, "lightmq.consume.rate", inner, rates.consumed(destination, subscription));
      }
    }
    published.set(publishedNow);
    publishedBytes.set(publishedBytesNow);
    acknowledged.set(acknowledgedNow);
    expired.set(expiredNow);
    suppressed.set(suppressedNow);
    selectorEvaluations.set(evaluationsNow);
    selectorMicros.set(selectorMicrosNow);
    keyViewMoves.set(keyViewMovesNow);
    gauges.forEach(
        (name, gauge) -> gauge.register(rows.getOrDefault(name, new ArrayList<>()), true));
  }

  private static void row(
      Map<String, List<MultiGauge.Row<?>>> rows, String name, Tags tags, double value) {
    rows.computeIfAbsent(name, key -> new ArrayList<>()).add(MultiGauge.Row.of(tags, value));
  }

  private void multiGauge(String name, String help) {
    gauges.put(name, MultiGauge.builder(name).description(help).register(registry));
  }

  private void brokerMeters() {
    gauge("lightmq.connections", "Open connections.", now -> now.connections());
    gauge(
        "lightmq.commands.waiting",
        "Commands in the shard's mailbox.",
        now -> now.broker().commandsWaiting());
    gauge(
        "lightmq.publishes.paused",
        "1 while sends wait for room in journal, window or disk.",
        now -> now.broker().publishesPaused().isEmpty() ? 0 : 1);
    gauge(
        "lightmq.io.wait.ratio",
        "Share of processor time spent waiting for devices, 0 to 1.",
        now -> ioWaitShare);
    counter("lightmq.commands", "Commands executed.", now -> now.broker().totals().commands());
    counter(
        "lightmq.damaged.reads",
        "Reads from files that failed their check.",
        now -> now.broker().totals().damagedReads());
    counter(
        "lightmq.set.aside.messages",
        "Messages that could not be read and were set aside.",
        now -> now.broker().totals().setAside());
    gauge(
        "lightmq.damaged.messages",
        "Messages that are set aside because they cannot be read.",
        now -> now.broker().totals().damagedMessages());
    counter(
        "lightmq.clock.steps",
        "Jumps of the machine's time, which the broker's follows slowly.",
        now -> now.broker().totals().clockSteps());
    counter(
        "lightmq.redelivered",
        "Failed attempts to process a message.",
        now -> now.broker().totals().moves().redelivered());
    counter(
        "lightmq.dead.letters",
        "Messages that became dead letters, dropped ones included.",
        now -> now.broker().totals().moves().deadLettered());
    counter(
        "lightmq.failed.moves",
        "Moves of dead, expired or due messages that failed; each is tried again.",
        now -> now.broker().totals().moves().failed());
    gauge(
        "lightmq.waiting.moves",
        "Moves of dead, expired or due messages that wait because their target takes nothing.",
        now -> now.broker().totals().moves().waiting());
    gauge(
        "lightmq.delayed",
        "Messages that wait for their delivery time.",
        now -> now.broker().totals().moves().delayed());
    gauge(
        "lightmq.withheld",
        "Messages that wait for their next attempt.",
        now -> now.broker().totals().moves().withheld());
    counter(
        "lightmq.rejected.snapshots",
        "Snapshots that failed their check at start.",
        now -> now.broker().totals().rejectedSnapshots());
  }

  private void journalMeters() {
    gauge(
        "lightmq.journal.used.bytes",
        "Journal bytes that are still needed.",
        now -> now.broker().journal().usedBytes());
    gauge(
        "lightmq.journal.capacity.bytes",
        "Bytes of all journal files.",
        now -> now.broker().journal().capacityBytes());
    gauge(
        "lightmq.journal.unforced.bytes",
        "Journal bytes that a power cut would take.",
        now -> now.broker().journal().unforcedBytes());
    gauge(
        "lightmq.window.used.bytes",
        "Bytes of the window that hold journal.",
        now -> now.broker().journal().windowBytes());
    counter("lightmq.journal.writes", "Journal writes.", now -> now.broker().journal().writes());
    counter(
        "lightmq.journal.write.seconds",
        "Time spent in journal writes.",
        now -> now.broker().journal().writeNanos() / NANOS);
    counter("lightmq.journal.forces", "Journal forces.", now -> now.broker().journal().forces());
    counter(
        "lightmq.journal.force.seconds",
        "Time spent in journal forces.",
        now -> now.broker().journal().forceNanos() / NANOS);
    counter("lightmq.checkpoints", "Checkpoints made.", now -> now.broker().checkpoints().done());
    counter(
        "lightmq.checkpoints.failed",
        "Checkpoints given up.",
        now -> now.broker().checkpoints().failed());
    gauge(
        "lightmq.checkpoint.last.seconds",
        "How long the newest checkpoint took.",
        now -> now.broker().checkpoints().lastNanos() / NANOS);
    gauge("lightmq.segments", "Segment files.", now -> now.broker().checkpoints().segments());
    gauge(
        "lightmq.segment.bytes",
        "Bytes of all segment files.",
        now -> now.broker().checkpoints().segmentBytes());
    gauge(
        "lightmq.overflow.bytes",
        "Bytes of the files of volatile messages that memory has no room for.",
        now -> now.broker().overflow().bytes());
    gauge(
        "lightmq.overflow.limit.bytes",
        "The most that these files may take.",
        now -> now.broker().overflow().limitBytes());
    counter(
        "lightmq.overflow.messages",
        "Volatile messages that were moved from memory into files.",
        now -> now.broker().overflow().movedMessages());
    counter(
        "lightmq.overflow.failures",
        "Batches of volatile messages that could not be written to files and stay in memory.",
        now -> now.broker().overflow().failures());
    gauge(
        "lightmq.disk.usable.bytes",
        "Bytes that the file system of the data directory has left.",
        now -> now.broker().disk().usableBytes());
    gauge(
        "lightmq.disk.size.bytes",
        "Bytes of the file system of the data directory.",
        now -> now.broker().disk().totalBytes());
  }

  private void memoryMeters() {
    gauge(
        "lightmq.direct.core.bytes",
        "Direct memory of window, cursors and run lists.",
        now -> now.broker().directBytes());
    gauge(
        "lightmq.direct.network.bytes",
        "Direct memory of the connections.",
        now -> now.networkBytes());
    gauge(
        "lightmq.direct.network.bound.bytes",
        "What the direct memory of so many connections never needs more than.",
        now -> now.networkBoundBytes());
    gauge(
        "lightmq.direct.total.bytes",
        "Direct memory of core and connections.",
        now -> now.broker().directBytes() + now.networkBytes());
    gauge(
        "lightmq.credit.exposed.bytes",
        "Publish credit that clients hold or have used.",
        now -> now.creditBytes());
    gauge(
        "lightmq.credit.budget.bytes",
        "What all publish credit together never passes.",
        now -> now.creditBudgetBytes());
  }

  private void gauge(String name, String help, ToDoubleFunction<NodeMetrics> value) {
    Gauge.builder(name, this, meters -> value.applyAsDouble(meters.current))
        .description(help)
        .register(registry);
  }

  private void counter(String name, String help, ToDoubleFunction<NodeMetrics> value) {
    FunctionCounter.builder(name, this, meters -> value.applyAsDouble(meters.current))
        .description(help)
        .register(registry);
  }
}
