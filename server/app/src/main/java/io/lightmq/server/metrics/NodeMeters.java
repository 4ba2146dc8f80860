package io.lightmq.server.metrics;

import io.lightmq.node.NodeMetrics;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * A node's figures in the Prometheus text format. A sampler calls {@link #sample} every ten
 * seconds, which feeds the rates, the longest turn and the I/O wait; a scrape reads the node once
 * and sees one moment. Meters are kept for the broker alone; what is told of destinations is
 * written from the picture at hand.
 */
public final class NodeMeters implements AutoCloseable {
  private static final double NANOS = 1e9;

  /** So many samples after the last scrape nothing is kept for rates. */
  private static final int UNASKED_SAMPLES = 30;

  private final Supplier<NodeMetrics> node;
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final RateWindow rates = new RateWindow();
  private final IoWait ioWait = new IoWait(Path.of("/proc/stat"));
  private final JvmGcMetrics gc = new JvmGcMetrics();
  private final LongSupplier longestTurn;
  private final LongSupplier refusedHttp;
  private NodeMetrics current;
  private double ioWaitShare = Double.NaN;
  private long longestTurnBefore;
  private long longestTurnNow;
  private boolean asked;
  private int unaskedSamples;

  /**
   * The meters of a node.
   *
   * @param longestTurn the shard's longest turn since the last call, in nanoseconds
   * @param refusedHttp connections that the admin port has closed for want of room or time
   */
  public NodeMeters(
      Supplier<NodeMetrics> node, LongSupplier longestTurn, LongSupplier refusedHttp) {
    this.node = node;
    this.longestTurn = longestTurn;
    this.refusedHttp = refusedHttp;
    this.current = node.get();
    new JvmMemoryMetrics().bindTo(registry);
    gc.bindTo(registry);
    brokerMeters();
    loadMeters();
    journalMeters();
    diskMeters();
    memoryMeters();
    sample();
  }

  /** Takes a reading for rates, turns and I/O wait. */
  public synchronized void sample() {
    current = node.get();
    unaskedSamples = asked ? 0 : unaskedSamples + 1;
    asked = false;
    if (unaskedSamples <= UNASKED_SAMPLES) {
      rates.add(current.broker());
    } else {
      rates.clear();
    }
    longestTurnBefore = Math.max(longestTurnNow, longestTurn.getAsLong());
    longestTurnNow = 0;
    ioWaitShare = ioWait.sinceLast();
  }

  /** Writes all figures of this moment in the Prometheus text format. */
  public synchronized void write(Appendable out) throws IOException {
    current = node.get();
    asked = true;
    longestTurnNow = Math.max(longestTurnNow, longestTurn.getAsLong());
    out.append(registry.scrape());
    new DestinationText(current.broker(), rates, out).write();
  }

  @Override
  public void close() {
    gc.close();
    registry.close();
  }

  private void brokerMeters() {
    gauge("lightmq.connections", "Open connections.", now -> now.connections().open());
    gauge(
        "lightmq.commands.waiting",
        "Commands in the shard's mailbox.",
        now -> now.broker().load().commandsWaiting());
    gauge(
        "lightmq.publishes.paused",
        "1 while sends wait for room in journal, window or disk.",
        now -> now.broker().load().publishesPaused().isEmpty() ? 0 : 1);
    gauge(
        "lightmq.io.wait.ratio",
        "Share of processor time spent waiting for devices, 0 to 1.",
        now -> ioWaitShare);
    counter("lightmq.commands", "Commands executed.", now -> now.broker().totals().commands());
    counter(
        "lightmq.damaged.reads",
        "Reads from files that failed their check.",
        now -> now.broker().totals().damage().reads());
    counter(
        "lightmq.set.aside.messages",
        "Messages that could not be read and were set aside.",
        now -> now.broker().totals().damage().setAside());
    gauge(
        "lightmq.damaged.messages",
        "Messages that are set aside because they cannot be read.",
        now -> now.broker().totals().damage().messages());
    counter(
        "lightmq.clock.steps",
        "Jumps of the machine's time, which the broker's follows slowly.",
        now -> now.broker().totals().clockSteps());
    gauge(
        "lightmq.staged.transactions",
        "Transactions of which the broker keeps something and that are not prepared.",
        now -> now.broker().totals().staged().open());
    gauge(
        "lightmq.staged.bytes",
        "Bytes of the messages that transactions have sent and not committed.",
        now -> now.broker().totals().staged().bytes());
    gauge(
        "lightmq.prepared.branches",
        "Branches of distributed transactions that wait for their decision.",
        now -> now.broker().totals().staged().prepared());
    gauge(
        "lightmq.prepared.oldest.seconds",
        "How long the oldest of them has been prepared.",
        now -> now.broker().totals().staged().oldestMillis() / 1_000.0);
    gauge(
        "lightmq.prepared.overdue",
        "Branches that have been prepared for longer than xa.prepared-alarm-millis.",
        now -> now.broker().totals().staged().overdue());
    gauge(
        "lightmq.heuristic.branches",
        "Branches that an administrator has decided and nobody has forgotten.",
        now -> now.broker().totals().staged().decided());
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
        now -> now.broker().totals().damage().rejectedSnapshots());
  }

  private void loadMeters() {
    Gauge.builder(
            "lightmq.turn.longest.seconds",
            this,
            meters -> Math.max(meters.longestTurnBefore, meters.longestTurnNow) / NANOS)
        .description("The broker's longest turn of the last 10 to 20 s; nobody is served in one.")
        .register(registry);
    FunctionCounter.builder("lightmq.http.refused", this, meters -> meters.refusedHttp.getAsLong())
        .description("Connections that the admin port closed for want of room or time.")
        .register(registry);
    counter(
        "lightmq.all.published.messages",
        "Messages taken since start, of all destinations.",
        now -> now.broker().totals().published().messages());
    counter(
        "lightmq.all.acknowledged.messages",
        "Messages acknowledged since start, of all destinations.",
        now -> now.broker().totals().settled().acknowledged());
    counter(
        "lightmq.refused.connections",
        "Connections of clients that were refused for want of a place.",
        now -> now.connections().refused());
    gauge(
        "lightmq.half.open.connections",
        "Connections of clients that have not said yet who they are.",
        now -> now.connections().halfOpen());
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
    counter(
        "lightmq.journal.writes",
        "Journal writes.",
        now -> now.broker().journal().writes().count());
    counter(
        "lightmq.journal.write.seconds",
        "Time spent in journal writes.",
        now -> now.broker().journal().writes().nanos() / NANOS);
    counter(
        "lightmq.journal.forces",
        "Journal forces.",
        now -> now.broker().journal().forces().count());
    counter(
        "lightmq.journal.force.seconds",
        "Time spent in journal forces.",
        now -> now.broker().journal().forces().nanos() / NANOS);
    counter("lightmq.checkpoints", "Checkpoints made.", now -> now.broker().checkpoints().done());
    counter(
        "lightmq.checkpoints.failed",
        "Checkpoints given up.",
        now -> now.broker().checkpoints().failed());
    gauge(
        "lightmq.checkpoint.last.seconds",
        "How long the newest checkpoint took.",
        now -> now.broker().checkpoints().lastNanos() / NANOS);
  }

  private void diskMeters() {
    gauge("lightmq.segments", "Segment files.", now -> now.broker().checkpoints().segments());
    gauge(
        "lightmq.segment.bytes",
        "Bytes of all segment files.",
        now -> now.broker().checkpoints().segmentBytes());
    gauge(
        "lightmq.overflow.bytes",
        "Bytes of the files of unlogged messages that memory has no room for.",
        now -> now.broker().overflow().bytes());
    gauge(
        "lightmq.overflow.limit.bytes",
        "The most that these files may take.",
        now -> now.broker().overflow().limitBytes());
    counter(
        "lightmq.overflow.messages",
        "Unlogged messages that were moved from memory into files.",
        now -> now.broker().overflow().movedMessages());
    counter(
        "lightmq.overflow.failures",
        "Batches of unlogged messages that could not be written to files and stay in memory.",
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
        "lightmq.named.bytes",
        "Heap that destinations, subscriptions, consumers, connections and links take, as"
            + " reckoned.",
        now -> now.broker().totals().named().bytes());
    gauge(
        "lightmq.named.limit.bytes",
        "What they may take: memory.named-state.",
        now -> now.broker().totals().named().limitBytes());
    counter(
        "lightmq.named.refused",
        "What was refused for want of that.",
        now -> now.broker().totals().named().refused());
    counter(
        "lightmq.unforeseen",
        "Requests that were refused because of an error of the broker's.",
        now -> now.broker().totals().named().unforeseen());
    gauge(
        "lightmq.direct.core.bytes",
        "Direct memory of window, cursors and run lists.",
        now -> now.broker().direct().bytes());
    gauge(
        "lightmq.direct.network.bytes",
        "Direct memory of the connections.",
        now -> now.network().bytes());
    gauge(
        "lightmq.direct.network.bound.bytes",
        "What the direct memory of so many connections never needs more than.",
        now -> now.network().boundBytes());
    gauge(
        "lightmq.direct.total.bytes",
        "Direct memory of core and connections.",
        now -> now.broker().direct().bytes() + now.network().bytes());
    gauge(
        "lightmq.credit.exposed.bytes",
        "Publish credit that clients hold or have used.",
        now -> now.credit().bytes());
    gauge(
        "lightmq.credit.budget.bytes",
        "What all publish credit together never passes.",
        now -> now.credit().boundBytes());
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
