package io.lightmq.core.shard;

import io.lightmq.core.destination.Destination;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.spi.Mark;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a transaction will do, checked before the first byte of it is recorded. */
@OwnedBy("shard")
final class TransactionPlan {
  final Map<Command.StagedRun, Destination> durable = new LinkedHashMap<>();
  final Map<Command.StagedRun, Destination> swift = new LinkedHashMap<>();
  final List<Settlements.Accepted> acked = new ArrayList<>();
  final Map<Destination, Integer> counts = new LinkedHashMap<>();
  int records;
  int volatileCount;
  long volatileBytes;
  long durableBytes;
  @Nullable Mark mark;

  void needs(Destination destination) {
    Mark wanted = destination.settings().tier().mark();
    Mark known = mark;
    mark = known == null || wanted.compareTo(known) > 0 ? wanted : known;
  }
}
