package io.lightmq.core.delivery;

import io.lightmq.core.destination.DurableLane;
import io.lightmq.core.destination.View;
import io.lightmq.core.selector.Selector;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A part of the backlog that a reader evaluates a selector on. The shard makes it and gives it to a
 * reader; the reader sets the result and gives it back.
 */
final class SiftTask {
  final View view;
  final DurableLane lane;
  final Selector.Evaluator evaluator;
  final List<Fetch.Part> parts = new ArrayList<>();
  long messages;
  long estimatedBytes;

  // The result: everything below was looked at, and why not all of it.
  long reached;
  long looked;
  long[] matches = new long[16];
  int matchCount;
  @Nullable IOException failure;

  SiftTask(View view, DurableLane lane, Selector.Evaluator evaluator, long from) {
    this.view = view;
    this.lane = lane;
    this.evaluator = evaluator;
    this.reached = from;
  }

  void add(Fetch.Part part, long bytes) {
    parts.add(part);
    messages += part.count();
    estimatedBytes += bytes;
  }

  void match(long sequence) {
    if (matchCount == matches.length) {
      matches = Arrays.copyOf(matches, 2 * matchCount);
    }
    matches[matchCount++] = sequence;
  }
}
