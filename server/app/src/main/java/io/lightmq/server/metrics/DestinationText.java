package io.lightmq.server.metrics;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.lightmq.core.shard.BrokerMetrics;
import io.lightmq.core.shard.BrokerMetrics.DestinationUse;
import io.lightmq.core.shard.BrokerMetrics.OtherUse;
import io.lightmq.core.shard.BrokerMetrics.SubscriptionUse;
import io.lightmq.wire.entry.Printable;
import java.io.IOException;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * Writes the series of destinations and subscriptions in the Prometheus text format, straight from
 * a picture: nothing is kept for them, and nothing is made but the text.
 */
final class DestinationText {
  private static final String OTHER = "{destination=\"other\",kind=\"other\"";
  private static final double MILLIS = 1e3;

  private final BrokerMetrics broker;
  private final RateWindow rates;
  private final Appendable out;

  /** What a series of subscriptions tells. */
  private interface Value {
    double of(DestinationUse destination, SubscriptionUse subscription);
  }

  /** Whether a subscription has a series. */
  private interface Choice {
    boolean of(SubscriptionUse subscription);
  }

  DestinationText(BrokerMetrics broker, RateWindow rates, Appendable out) {
    this.broker = broker;
    this.rates = rates;
    this.out = out;
  }

  void write() throws IOException {
    counter(
        "lightmq_published_messages",
        "Messages taken since start.",
        use -> (double) use.published().messages());
    counter(
        "lightmq_published_bytes",
        "Bytes of messages taken.",
        use -> (double) use.published().bytes());
    head("lightmq_produce_rate", "Messages a second over the last minute.", "gauge");
    for (DestinationUse each : broker.destinations()) {
      destination("lightmq_produce_rate", each);
      value(rates.produced(each));
    }
    subscriptionCounters();
    subscriptionGauges();
    head("lightmq_other_destinations", "Destinations without series of their own.", "gauge");
    out.append("lightmq_other_destinations");
    end((double) broker.others().destinations());
    head("lightmq_other_subscriptions", "Subscriptions without series of their own.", "gauge");
    out.append("lightmq_other_subscriptions");
    end((double) broker.others().subscriptions());
  }

  private void subscriptionCounters() throws IOException {
    each(
        "lightmq_acknowledged_messages_total",
        "Messages acknowledged since start.",
        "counter",
        all -> true,
        (of, each) -> each.settled().acknowledged());
    each(
        "lightmq_expired_messages_total",
        "Messages that expired.",
        "counter",
        all -> true,
        (of, each) -> each.settled().expired());
    each(
        "lightmq_suppressed_messages_total",
        "Duplicates that no consumer got.",
        "counter",
        all -> true,
        (of, each) -> each.settled().suppressed());
    each(
        "lightmq_selector_evaluations_total",
        "Messages that the subscription's selector was evaluated on.",
        "counter",
        each -> each.selector().evaluations() > 0,
        (of, each) -> each.selector().evaluations());
    each(
        "lightmq_selector_micros_total",
        "Microseconds that took, from samples.",
        "counter",
        each -> each.selector().evaluations() > 0,
        (of, each) -> (double) NANOSECONDS.toMicros(each.selector().nanos()));
    each(
        "lightmq_group_bucket_moves_total",
        "Group buckets of groups given to a consumer.",
        "counter",
        each -> each.groupBuckets().moves() > 0,
        (of, each) -> each.groupBuckets().moves());
  }

  private void subscriptionGauges() throws IOException {
    each(
        "lightmq_group_buckets_moving",
        "Group buckets of groups that wait for what is in flight before they move.",
        "gauge",
        each -> each.groupBuckets().moves() > 0,
        (of, each) -> each.groupBuckets().moving());
    each(
        "lightmq_lag_seconds",
        "By how much the last acknowledged message is older than the newest published one.",
        "gauge",
        all -> true,
        (of, each) -> each.backlog().lagMillis() / MILLIS);
    each(
        "lightmq_oldest_message_age_seconds",
        "Age of the oldest message of the backlog.",
        "gauge",
        all -> true,
        (of, each) -> each.backlog().oldestAgeMillis() / MILLIS);
    each(
        "lightmq_consume_rate",
        "Acknowledgements a second over the last minute.",
        "gauge",
        all -> true,
        rates::consumed);
    withOthers(
        "lightmq_backlog_messages",
        "Messages that are not acknowledged.",
        (of, each) -> each.backlog().messages(),
        OtherUse::backlog);
    withOthers(
        "lightmq_in_flight_messages",
        "Messages given to consumers, not acknowledged yet.",
        (of, each) -> each.backlog().inFlight(),
        OtherUse::inFlight);
    withOthers(
        "lightmq_consumers",
        "Consumers of the subscription.",
        (of, each) -> each.consumers(),
        OtherUse::consumers);
  }

  private void counter(String name, String help, ToDoubleFunction<DestinationUse> figure)
      throws IOException {
    head(name + "_total", help, "counter");
    for (DestinationUse each : broker.destinations()) {
      destination(name + "_total", each);
      value(figure.applyAsDouble(each));
    }
  }

  private void withOthers(String name, String help, Value figure, ToLongFunction<OtherUse> others)
      throws IOException {
    each(name, help, "gauge", all -> true, figure);
    if (broker.others().subscriptions() > 0) {
      out.append(name).append(OTHER).append(",subscription=\"other\"");
      value((double) others.applyAsLong(broker.others()));
    }
  }

  private void each(String name, String help, String type, Choice choice, Value figure)
      throws IOException {
    head(name, help, type);
    for (DestinationUse destination : broker.destinations()) {
      for (SubscriptionUse each : destination.subscriptions()) {
        if (choice.of(each)) {
          destination(name, destination);
          out.append(",subscription=\"");
          label(each.name());
          out.append('"');
          value(figure.of(destination, each));
        }
      }
    }
  }

  private void head(String name, String help, String type) throws IOException {
    out.append("# HELP ").append(name).append(' ').append(help).append('\n');
    out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private void destination(String name, DestinationUse use) throws IOException {
    out.append(name).append("{destination=\"");
    label(use.name().name());
    out.append("\",kind=\"").append(use.name().kind().name().toLowerCase(Locale.ROOT));
    out.append('"');
  }

  private void value(double figure) throws IOException {
    out.append('}');
    end(figure);
  }

  private void end(double figure) throws IOException {
    out.append(' ').append(Double.toString(figure)).append('\n');
  }

  /** A name that a client chose; what would end or garble its line is escaped. */
  private void label(String text) throws IOException {
    String printable = Printable.escaped(text);
    for (int i = 0; i < printable.length(); i++) {
      char c = printable.charAt(i);
      if (c == '\\' || c == '"') {
        out.append('\\');
      }
      out.append(c);
    }
  }
}
