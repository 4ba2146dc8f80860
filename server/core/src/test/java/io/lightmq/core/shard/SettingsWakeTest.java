package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.Command.Subscribe;
import io.lightmq.core.shard.FakePeer.Received;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A parked pull gets what a changed setting frees, without anything else that happens. */
class SettingsWakeTest {
  private static final DestinationName QUEUE = new DestinationName(DestinationKind.QUEUE, "q");

  @RegisterExtension final BrokerHarness h = new BrokerHarness(5);
  private FakePeer peer;
  private long queue;

  @BeforeEach
  void open() throws IOException {
    h.open();
    h.admin("destination.create", Map.of("kind", "queue", "name", "q"));
    peer = h.attach();
    queue = h.producer(peer, QUEUE);
    h.consumer(peer, 1, QUEUE, Subscribe.QUEUE, null);
    h.consumer(peer, 2, QUEUE, Subscribe.QUEUE, null);
  }

  private void set(String key, String text) {
    assertThat(h.admin("destination.set", Map.of("name", "q", key, text))).contains("settings");
  }

  /** A pull that waits for an hour. */
  private void park(int consumer) {
    int before = peer.received.size();
    h.broker.submit(new Command.Pull(peer, consumer, h.nextCorrelation(), 10, 1 << 20, 3_600_000));
    h.loops.runUntilIdle();
    assertThat(peer.received).hasSize(before);
  }

  private List<String> comes() {
    int before = peer.received.size();
    h.loops.runUntilIdle();
    return peer.received.subList(before, peer.received.size()).stream()
        .map(Received::text)
        .toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"none|a#2", "property:other|a#2", "message-id|a#2", "property:key,keys=7|"})
  void aWaitingDuplicateComesWhenItIsNoneAnyMore(String setting, String comes) {
    set("suppress-duplicates", "property:key");
    h.receipt(peer, h.publish(peer, queue, 1, "a#1", "a#2"));
    assertThat(h.pull(peer, 1, 10)).extracting(Received::text).containsExactly("a#1");
    park(2);
    int before = peer.received.size();
    set("suppress-duplicates", setting);
    h.loops.runUntilIdle();
    assertThat(peer.received.subList(before, peer.received.size()))
        .extracting(Received::text)
        .isEqualTo(comes == null ? List.of() : List.of(comes));
  }

  @Test
  void whatWaitedBehindTooManyDuplicatesComes() {
    set("suppress-duplicates", "property:key");
    h.receipt(peer, h.publish(peer, queue, 1, "a#1"));
    h.pull(peer, 1, 1);
    String[] same = new String[100];
    java.util.Arrays.fill(same, "a#2");
    for (int run = 2; run <= 101; run++) {
      h.receipt(peer, h.publish(peer, queue, run, same));
    }
    h.receipt(peer, h.publish(peer, queue, 102, "b#1"));
    h.loops.runUntilIdle();
    while (peer.pullsDone.size() < 200) {
      assertThat(h.pull(peer, 2, 1_000)).isEmpty();
    }
    park(2);
    int before = peer.received.size();
    set("suppress-duplicates", "none");
    h.loops.runUntilIdle();
    assertThat(peer.received.size()).isGreaterThan(before);
  }

  @ParameterizedTest
  @CsvSource({
    "redelivery-order,preserving,redelivery-delay,0",
    "redelivery-order,non-blocking,redelivery-delay,0",
    "redelivery-order,preserving,redelivery-order,non-blocking",
    "redelivery-order,non-blocking,redelivery-order,preserving"
  })
  void whatWaitsForItsNextAttemptComesWhenTheScheduleChanges(
      String first, String firstText, String then, String thenText) {
    set(first, firstText);
    set("redelivery-delay", "1h");
    h.receipt(peer, h.publish(peer, queue, 1, "a"));
    Received got = h.pull(peer, 1, 1).get(0);
    h.broker.submit(
        new Command.Return(
            peer, 0, List.of(new Command.Acked(1, queue, List.of(got.range()))), true));
    park(2);
    set("max-attempts", "20");
    assertThat(comes()).isEmpty();
    int before = peer.received.size();
    set(then, thenText);
    h.loops.runUntilIdle();
    assertThat(peer.received.subList(before, peer.received.size()))
        .extracting(Received::text)
        .containsExactly("a");
  }
}
