package io.lightmq.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.sim.SimulatedClock;
import org.junit.jupiter.api.Test;

class TurnTimeTest {
  private final SimulatedClock clock = new SimulatedClock();
  private final TurnTime time = new TurnTime(clock);

  @Test
  void anOwnerGoesOnFromTheHighestTimeOfAnotherMachine() {
    long wall = clock.wallMillis();
    time.begin(wall + 700);
    assertThat(time.millis()).isEqualTo(wall + 700);
    assertThat(time.arrived(wall + 3)).isEqualTo(wall + 703);
    clock.advance(5_000_000_000L);
    time.look();
    assertThat(time.millis()).isEqualTo(wall + 5_700);
  }

  @Test
  void aTimeThatIsBehindOrWrongChangesNothing() {
    long wall = clock.wallMillis();
    time.begin(wall - 5_000);
    assertThat(time.millis()).isEqualTo(wall);
    time.begin(wall + TurnTime.MOST_AHEAD_MILLIS + 1);
    assertThat(time.millis()).isEqualTo(wall);
    time.begin(wall + TurnTime.MOST_AHEAD_MILLIS);
    assertThat(time.millis()).isEqualTo(wall + TurnTime.MOST_AHEAD_MILLIS);
    time.begin(0);
    assertThat(time.millis()).isEqualTo(wall);
  }
}
