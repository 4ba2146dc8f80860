package io.lightmq.core.intake;

import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.core.transaction.StagedTransactions;
import io.lightmq.core.transaction.StagedUse;
import io.lightmq.wire.entry.Printable;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in the log which branches have been prepared for too long: the oldest {@value #MAX_NAMED},
 * once there are more than at the last time, and every ten minutes.
 */
@OwnedBy("shard")
public final class PreparedAlarm implements TurnPart {
  private static final Logger log = LoggerFactory.getLogger(PreparedAlarm.class);
  private static final long AGAIN_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final long SOONEST_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final int MAX_NAMED = 10;

  private final Guard guard;
  private final StagedTransactions transactions;
  private final long alarmMillis;
  private final TurnTime time;
  private int told;
  private long toldNanos;

  public PreparedAlarm(BrokerSettings settings, ShardState state, TurnTime time) {
    this.guard = state.guard();
    this.transactions = state.transactions();
    this.alarmMillis = settings.intervals().preparedAlarmMillis();
    this.time = time;
  }

  @Override
  public void tick() {
    guard.check();
    String due = due();
    if (due != null) {
      log.warn("{}", due);
    }
  }

  /** What is to be said now; null for nothing. */
  @Nullable String due() {
    StagedUse use = transactions.use(time.millis(), alarmMillis);
    if (use.overdue() == 0) {
      told = 0;
      return null;
    }
    long since = time.nanos() - toldNanos;
    if (told == 0 || since >= AGAIN_NANOS || (use.overdue() > told && since >= SOONEST_NANOS)) {
      told = use.overdue();
      toldNanos = time.nanos();
      return use.overdue()
          + " branches of distributed transactions have been prepared for more than "
          + alarmMillis / 1_000
          + " s, and keep what they touch from others: "
          + text()
          + "; bring their transaction managers back, or decide them with bin/lightmq xa";
    }
    return null;
  }

  /** The oldest of them. */
  private String text() {
    long now = time.millis();
    List<StagedTransaction> oldest =
        transactions.all().stream()
            .filter(each -> each.isPrepared() && now - each.preparedMillis() > alarmMillis)
            .sorted(Comparator.comparingLong(StagedTransaction::preparedMillis))
            .limit(MAX_NAMED)
            .toList();
    return oldest.stream()
        .map(
            each ->
                each.shownName()
                    + " of user "
                    + Printable.of(each.user())
                    + " for "
                    + (now - each.preparedMillis()) / 1_000
                    + " s")
        .collect(Collectors.joining(", "));
  }
}
