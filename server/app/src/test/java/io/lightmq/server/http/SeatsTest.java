package io.lightmq.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SeatsTest {
  private final Seats seats = new Seats(64, 32);

  private List<Channel> enter(String address, int count) {
    List<Channel> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Channel channel = new EmbeddedChannel();
      assertThat(seats.enter(channel, address)).isNull();
      all.add(channel);
    }
    return all;
  }

  @Test
  void strangersOfAsManyAddressesAsThereAreSeatsKeepNobodyOut() {
    List<Channel> strangers = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      strangers.addAll(enter("127.0.1." + i, 1));
    }
    for (int i = 0; i < 32; i++) {
      Channel probe = new EmbeddedChannel();
      assertThat(seats.enter(probe, "127.0.0.1")).isSameAs(strangers.get(i));
      seats.leave(probe);
      enter("127.0.1." + i, 1);
    }
    assertThat(seats.count()).isEqualTo(64);
    assertThat(seats.refused()).isEqualTo(32);
  }

  @Test
  void anAddressThatFloodsPushesOutItsOwn() {
    Channel probe = enter("10.0.0.1", 1).get(0);
    List<Channel> flood = enter("10.0.0.66", 32);
    enter("10.0.0.67", 31);
    for (int i = 0; i < 16; i++) {
      Channel next = new EmbeddedChannel();
      assertThat(seats.enter(next, "10.0.0.66")).isSameAs(flood.get(i));
    }
    Channel late = new EmbeddedChannel();
    assertThat(seats.enter(late, "10.0.0.2")).isSameAs(flood.get(16));
    seats.leave(probe);
    seats.leave(late);
    assertThat(seats.count()).isEqualTo(62);
  }
}
