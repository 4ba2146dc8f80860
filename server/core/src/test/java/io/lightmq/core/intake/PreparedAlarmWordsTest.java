package io.lightmq.core.intake;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.destination.Destinations;
import io.lightmq.core.destination.OffHeap;
import io.lightmq.core.destination.UnloggedStore;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.core.record.ShardRecord.TransactionBegun;
import io.lightmq.core.record.TransactionName;
import io.lightmq.core.sim.SimulatedClock;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.storage.DirectMemory;
import io.lightmq.core.transaction.StagedTransactions;
import io.lightmq.wire.entry.Xid;
import org.junit.jupiter.api.Test;

/** The alarm names the oldest branches, not too often, and not for ever. */
class PreparedAlarmWordsTest {
  private static final long MINUTE = 60_000_000_000L;

  private final SimulatedClock clock = new SimulatedClock();
  private final TurnTime time = new TurnTime(clock);
  private final DirectMemory memory = new DirectMemory();
  private final ShardState state =
      new ShardState(new Destinations(new OffHeap(memory), new UnloggedStore(memory, 1 << 20)));
  private final PreparedAlarm alarm = new PreparedAlarm(BrokerSettings.defaults(), state, time);

  private void prepare(int id) {
    StagedTransactions all = state.transactions();
    Xid xid = new Xid(1, new byte[] {(byte) id}, new byte[] {2});
    all.begun(new TransactionBegun(id, new TransactionName.OfUser("ada", xid)), 1);
    all.prepared(id, time.millis());
  }

  private void pass(long nanos) {
    clock.advance(nanos);
    time.look();
  }

  @Test
  void itIsSaidOnceAndAgainWhenThereAreMoreOrLater() {
    time.look();
    assertThat(alarm.due()).isNull();
    prepare(1);
    pass(30 * MINUTE);
    prepare(2);
    assertThat(alarm.due()).isNull();
    pass(31 * MINUTE);
    assertThat(alarm.due()).contains("1 branches", "of user ada for 366", "bin/lightmq xa");
    pass(MINUTE / 60);
    assertThat(alarm.due()).isNull();
    pass(30 * MINUTE);
    assertThat(alarm.due()).contains("2 branches", "ada for 546", "ada for 366");
    pass(9 * MINUTE);
    assertThat(alarm.due()).isNull();
    pass(2 * MINUTE);
    assertThat(alarm.due()).contains("2 branches");
  }

  @Test
  void manyAreNotAllNamed() {
    time.look();
    for (int id = 1; id <= 100; id++) {
      prepare(id);
    }
    pass(61 * MINUTE);
    assertThat(alarm.due()).contains("100 branches").hasSizeLessThan(1_000);
  }
}
