package io.lightmq.node.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PlacesTest {
  private final PeerLogTest.Recording log = new PeerLogTest.Recording();
  private final Places places = new Places(log, 3, () -> 0);

  private List<Channel> arrive(String address, int count) {
    List<Channel> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Channel channel = new EmbeddedChannel();
      assertThat(places.arrive(channel, address)).isNull();
      all.add(channel);
    }
    return all;
  }

  @Test
  void whoHasNotSaidWhoHeIsTakesNoPlaceOfAUser() {
    arrive("10.0.0.66", 100);
    for (Channel user : arrive("10.0.0.1", 3)) {
      assertThat(places.take(user, false)).isTrue();
    }
    assertThat(places.halfOpen()).isEqualTo(100);
    assertThat(places.refused()).isZero();
  }

  @Test
  void anAddressThatFloodsPushesOutItsOwn() {
    List<Channel> flood = arrive("10.0.0.66", Places.HALF_OPEN_PER_ADDRESS);
    Channel honest = arrive("10.0.0.1", 1).get(0);
    Channel next = new EmbeddedChannel();
    assertThat(places.arrive(next, "10.0.0.66")).isSameAs(flood.get(0));
    assertThat(places.take(honest, false)).isTrue();
    assertThat(places.refused()).isEqualTo(1);
    assertThat(places.halfOpen()).isEqualTo(Places.HALF_OPEN_PER_ADDRESS);
  }

  /** A log that blocks must not block all other connections. */
  @Test
  void noLineIsWrittenUnderTheLock() {
    log.watched = places;
    arrive("10.0.0.66", Places.HALF_OPEN_PER_ADDRESS);
    places.arrive(new EmbeddedChannel(), "10.0.0.66");
    assertThat(log.lines).singleElement().asString().contains("1 connections were refused");
    assertThat(log.locked).isFalse();
  }

  @Test
  void aFullPoolLosesTheOldestOfTheAddressThatHasTheMost() {
    Channel honest = arrive("10.0.0.1", 1).get(0);
    List<Channel> most = arrive("10.0.0.66", Places.HALF_OPEN_PER_ADDRESS);
    arrive("10.0.0.67", Places.HALF_OPEN - 1 - Places.HALF_OPEN_PER_ADDRESS);
    Channel late = new EmbeddedChannel();
    assertThat(places.arrive(late, "10.0.0.2")).isSameAs(most.get(0));
    assertThat(places.take(honest, false)).isTrue();
    assertThat(places.take(late, false)).isTrue();
  }

  @Test
  void someArePlacesForThoseWhoManage() {
    List<Channel> users = arrive("10.0.0.1", 4);
    for (Channel user : users.subList(0, 3)) {
      assertThat(places.take(user, false)).isTrue();
    }
    assertThat(places.take(users.get(3), false)).isFalse();
    for (Channel manager : arrive("10.0.0.9", Places.KEPT_FOR_MANAGERS)) {
      assertThat(places.take(manager, true)).isTrue();
    }
    Channel one = arrive("10.0.0.9", 1).get(0);
    assertThat(places.take(one, true)).isFalse();
    assertThat(places.refused()).isEqualTo(2);
    users.forEach(places::leave);
    Channel again = arrive("10.0.0.1", 1).get(0);
    assertThat(places.take(again, true)).isTrue();
    assertThat(places.halfOpen()).isZero();
  }
}
