package io.lightmq.core.delivery;

import io.lightmq.core.destination.Subscription;
import io.lightmq.core.runtime.OwnedBy;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;

/**
 * The reads for consumers that are under way, at most {@link Fetcher#MAX_UNDER_WAY}, and who waits
 * for one of them to end.
 */
@OwnedBy("shard")
final class Fetches {
  private final Fetcher fetcher;

  /** Subscriptions that wait for a read to end; each at most once. */
  private final Set<Subscription> starved = new LinkedHashSet<>();

  private int underWay;

  Fetches(Fetcher fetcher) {
    this.fetcher = fetcher;
  }

  /** Whether no further read may begin; the subscription is then told when one has ended. */
  boolean isFullFor(Subscription subscription) {
    if (underWay < Fetcher.MAX_UNDER_WAY) {
      return false;
    }
    starved.add(subscription);
    subscription.views().lag();
    return true;
  }

  /** Whether a subscription waits for a read to end. */
  boolean isStarved(Subscription subscription) {
    return starved.contains(subscription);
  }

  /** A subscription waits for nothing any more. */
  void forget(Subscription subscription) {
    starved.remove(subscription);
  }

  /** Those that waited for a read to end; they wait no longer. */
  List<Subscription> takeStarved() {
    List<Subscription> all = List.copyOf(starved);
    starved.clear();
    return all;
  }

  /** Begins a read for a consumer; false if nothing is read any more, and all is as before. */
  boolean begin(Fetch fetch, java.util.function.Consumer<Fetch> done) {
    Consumer consumer = fetch.consumer;
    consumer.fetch = fetch;
    consumer.fetching = true;
    underWay++;
    try {
      fetcher.fetch(fetch, done);
      return true;
    } catch (RejectedExecutionException e) {
      end(fetch);
      Batches.free(fetch);
      return false;
    }
  }

  /** A read is back; whether its consumer still waits for it. Else what it brought is dropped. */
  boolean end(Fetch fetch) {
    underWay--;
    fetch.release();
    Consumer consumer = fetch.consumer;
    if (consumer.fetch == fetch) {
      consumer.fetch = null;
      consumer.fetching = false;
      return true;
    }
    if (fetch.buffer != null) {
      fetch.buffer.release();
    }
    return false;
  }

  /** What is being read for a consumer that goes is free now, before anybody else comes. */
  static void abandon(Consumer consumer) {
    Fetch fetch = consumer.fetch;
    if (fetch != null) {
      consumer.fetch = null;
      consumer.fetching = false;
      Batches.free(fetch);
      consumer.arrived();
    }
  }
}
