package io.lightmq.node.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ConnectionPlacesTest {
  private final PeerLogTest.Recording log = new PeerLogTest.Recording();
  private long nanos = Long.MAX_VALUE - 1; // as System.nanoTime() may give it
  private final ConnectionPlaces places = new ConnectionPlaces(log, 3, () -> nanos);

  private List<Channel> arrive(String address, int count) {
    List<Channel> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Channel channel = new EmbeddedChannel();
      assertThat(places.arrive(channel, address).gone()).isNull();
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
    List<Channel> flood = arrive("10.0.0.66", ConnectionPlaces.HALF_OPEN_PER_ADDRESS);
    Channel honest = arrive("10.0.0.1", 1).get(0);
    Channel next = new EmbeddedChannel();
    assertThat(places.arrive(next, "10.0.0.66").gone()).isSameAs(flood.get(0));
    assertThat(places.take(honest, false)).isTrue();
    assertThat(places.refused()).isEqualTo(1);
    assertThat(places.halfOpen()).isEqualTo(ConnectionPlaces.HALF_OPEN_PER_ADDRESS);
  }

  /** A log that blocks must not block all other connections. */
  @Test
  void noLineIsWrittenUnderTheLock() {
    log.watched = places;
    arrive("10.0.0.66", ConnectionPlaces.HALF_OPEN_PER_ADDRESS);
    places.arrive(new EmbeddedChannel(), "10.0.0.66");
    assertThat(log.lines).singleElement().asString().contains("1 connections were refused");
    assertThat(log.locked).isFalse();
  }

  @Test
  void aFullPoolLosesTheOldestOfTheAddressThatHasTheMost() {
    Channel honest = arrive("10.0.0.1", 1).get(0);
    List<Channel> most = arrive("10.0.0.66", ConnectionPlaces.HALF_OPEN_PER_ADDRESS);
    arrive("10.0.0.67", ConnectionPlaces.HALF_OPEN - 1 - ConnectionPlaces.HALF_OPEN_PER_ADDRESS);
    Channel late = new EmbeddedChannel();
    assertThat(places.arrive(late, "10.0.0.2").gone()).isSameAs(most.get(0));
    assertThat(places.take(honest, false)).isTrue();
    assertThat(places.take(late, false)).isTrue();
  }

  @Test
  void strangersOfAsManyAddressesAsThereArePlacesKeepNobodyOut() {
    strangersKeepNobodyOut("127.0.1.%d", "127.0.0.1");
  }

  @Test
  void strangersOfAsManyNetworksAsThereArePlacesKeepNobodyOut() {
    strangersKeepNobodyOut("10.1.%d.7", "192.168.0.1");
  }

  @Test
  void strangersOfOneNetworkOfTheNewProtocolKeepNobodyOut() {
    strangersKeepNobodyOut("2001:db8:0:1:0:0:0:%x", "2001:db8:0:2:0:0:0:1");
  }

  /** Each stranger comes back at once when he is pushed out; the others come eight at a time. */
  private void strangersKeepNobodyOut(String strangers, String honest) {
    Map<Channel, String> addresses = new HashMap<>();
    for (int i = 0; i < ConnectionPlaces.HALF_OPEN; i++) {
      String address = String.format(Locale.ROOT, strangers, i);
      addresses.put(arrive(address, 1).get(0), address);
    }
    for (int round = 0; round < 100; round++) {
      List<Channel> users = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        Channel user = new EmbeddedChannel();
        users.add(user);
        String back = addresses.remove(places.arrive(user, honest).gone());
        assertThat(back).as("a stranger was pushed out").isNotNull();
        Channel again = new EmbeddedChannel();
        addresses.put(again, back);
        Channel next = places.arrive(again, back).gone();
        assertThat(next).as("a stranger pushed out one of his own").isNotIn(users);
        addresses.remove(next);
      }
      users.forEach(places::leave);
      for (int i = places.halfOpen(); i < ConnectionPlaces.HALF_OPEN; i++) {
        String address = String.format(Locale.ROOT, strangers, i);
        addresses.put(arrive(address, 1).get(0), address);
      }
    }
  }

  /** Whoever has a network to himself has hundreds of addresses of it. */
  @Test
  void aNetworkThatFloodsPushesOutItsOwn() {
    List<Channel> users = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      users.addAll(arrive("10.2." + i + ".1", 1));
    }
    for (int i = 0; i < 5_000; i++) {
      assertThat(places.arrive(new EmbeddedChannel(), "10.0.0." + i % 250).gone()).isNotIn(users);
    }
    for (int i = 0; i < 5_000; i++) {
      Channel gone = places.arrive(new EmbeddedChannel(), "2001:db8:0:1:0:0:0:" + i).gone();
      assertThat(gone).isNotIn(users);
    }
    assertThat(places.halfOpen()).isEqualTo(ConnectionPlaces.HALF_OPEN);
  }

  @Test
  void someArePlacesForThoseWhoManage() {
    List<Channel> users = arrive("10.0.0.1", 4);
    for (Channel user : users.subList(0, 3)) {
      assertThat(places.take(user, false)).isTrue();
    }
    assertThat(places.take(users.get(3), false)).isFalse();
    for (Channel manager : arrive("10.0.0.9", ConnectionPlaces.KEPT_FOR_MANAGERS)) {
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

  private void refuse(String address, int logins) {
    for (int i = 0; i < logins; i++) {
      places.refusedLogin(address);
    }
  }

  private boolean waits(String address) {
    Channel channel = new EmbeddedChannel();
    boolean waits = places.arrive(channel, address).waits();
    places.leave(channel);
    return waits;
  }

  @Test
  void whoComesFromWhereManyLoginsAreRefusedWaits() {
    refuse("10.0.0.66", SlowNetworks.FREE);
    assertThat(waits("10.0.0.66")).as("mistakes are free").isFalse();
    refuse("10.0.0.67", 1);
    assertThat(waits("10.0.0.1")).as("one of the same network").isTrue();
    assertThat(waits("10.0.1.66")).as("one of another").isFalse();
    nanos += 100_000_000;
    assertThat(waits("10.0.0.66")).as("one is forgotten").isFalse();
  }

  @Test
  void aNetworkIsSlowForAWhileHoweverBadItWas() {
    refuse("10.0.0.66", 100_000);
    nanos += 1_599_000_000;
    assertThat(waits("10.0.0.66")).isTrue();
    nanos += 1_000_000;
    assertThat(waits("10.0.0.66")).isFalse();
    refuse("10.0.0.66", SlowNetworks.FREE);
    assertThat(waits("10.0.0.66")).as("those of before count").isTrue();
    nanos += 10_000_000_000L;
    refuse("10.0.0.66", SlowNetworks.FREE);
    assertThat(waits("10.0.0.66")).as("all of before are forgotten").isFalse();
  }

  @Test
  void soManyNetworksAreToldApart() {
    for (int i = 0; i <= SlowNetworks.MOST_NETWORKS; i++) {
      refuse("10." + i / 256 + "." + i % 256 + ".1", SlowNetworks.FREE + 1);
    }
    assertThat(waits("10.0.0.1")).as("the one whose refusal is the oldest").isFalse();
    assertThat(waits("10.0.1.1")).isTrue();
    assertThat(waits("10.4.0.1")).isTrue();
  }

  /** Whoever floods, nobody is pushed out before he had most of his time. */
  @Test
  void whoWaitsIsReadWhenSoManyOfHisNetworkWaitBehindHim() {
    refuse("10.0.0.66", 1_000);
    List<Channel> here = new ArrayList<>();
    List<Channel> read = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      Channel channel = new EmbeddedChannel();
      here.add(channel);
      ConnectionPlaces.Arrival arrival = places.arrive(channel, "10.0.0.66");
      assertThat(arrival.waits()).isTrue();
      if (arrival.passed() != null) {
        read.add(arrival.passed());
        assertThat(arrival.passed()).isSameAs(here.get(i - SlowNetworks.MOST_WAITING));
      }
      assertThat(arrival.gone()).isNotIn(here.subList(Math.max(0, i - 127), i + 1));
    }
    assertThat(read).hasSize(1_000 - SlowNetworks.MOST_WAITING);
    assertThat(places.waiting()).isEqualTo(SlowNetworks.MOST_WAITING);
    here.forEach(places::read);
    assertThat(places.waiting()).isZero();
  }

  @Test
  void whoIsGoneOrPushedOutWaitsNoLonger() {
    refuse("10.0.0.66", 1_000);
    List<Channel> all = new ArrayList<>();
    for (int network = 0; network < 20; network++) {
      refuse("10.0." + network + ".1", SlowNetworks.FREE + 1);
      for (int i = 0; i < SlowNetworks.MOST_WAITING; i++) {
        Channel channel = new EmbeddedChannel();
        all.add(channel);
        places.arrive(channel, "10.0." + network + ".1");
      }
    }
    assertThat(places.waiting()).isEqualTo(ConnectionPlaces.HALF_OPEN);
    all.forEach(places::leave);
    assertThat(places.waiting()).isZero();
  }
}
