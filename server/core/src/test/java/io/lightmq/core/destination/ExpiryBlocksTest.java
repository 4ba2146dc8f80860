package io.lightmq.core.destination;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.storage.DirectMemory;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What is known of expiry is as much as there are blocks in which something is left. */
class ExpiryBlocksTest {
  private static final int BLOCKS = 30;
  private static final int BLOCK = SequenceSet.BLOCK;

  private final DirectMemory direct = new DirectMemory();
  private final Destinations destinations =
      new Destinations(new OffHeap(direct), new UnloggedStore(direct, 1 << 20));
  private final Destination queue =
      destinations.create(
          1, new DestinationName(DestinationKind.QUEUE, "q"), DestinationSettings.DEFAULT);
  private final Subscription subscription =
      queue.open(1, SubscriptionKind.QUEUE, null, null, false);
  private final DurableLane lane = queue.durable(4);
  private long offset = 4096;

  private long publish(int count, long expiryMillis) {
    long first = lane.tail(1);
    lane.append(first, count);
    for (int i = 0; i < count; i++) {
      lane.entry(first + i, offset, 100, 0);
      lane.expires(first + i, expiryMillis);
      offset += 100;
    }
    lane.show();
    return first;
  }

  private byte[] encoded() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    queue.encode(new DataOutputStream(bytes));
    return bytes.toByteArray();
  }

  private int known() {
    return lane.earliestExpiries(queue.firstNeeded(lane)).size();
  }

  @Test
  void behindAnOldMessageNothingIsKeptOfWhatIsDoneWith() throws IOException {
    publish(1, 0);
    long needed = -1;
    for (int i = 0; i < BLOCKS; i++) {
      long first = publish(BLOCK, 5_000 + i);
      subscription.acknowledge(lane.code(), first, BLOCK - (i == 7 ? 1 : 0));
      needed = i == 7 ? first + BLOCK - 1 : needed;
    }
    assertThat(lane.earliestExpiries(0))
        .containsOnlyKeys(
            SequenceSet.key(1L << 32), SequenceSet.key(needed), SequenceSet.key(lane.last()));
    byte[] before = encoded();
    queue.trim();
    assertThat(encoded()).as("who has looked does not change a snapshot").isEqualTo(before);
    subscription.acknowledge(lane.code(), needed, 1);
    assertThat(known()).isEqualTo(2);
    publish(BLOCK, 9_000);
    assertThat(lane.earliestExpiries(0))
        .as("nothing is forgotten")
        .containsValue(9_000L)
        .hasSize(3);
  }

  @Test
  void blocksThatNobodyNeedsTakeNoHeap() {
    ExpiryBlocks blocks = new ExpiryBlocks();
    for (long i = 0; i < BLOCKS; i++) {
      blocks.add(i * BLOCK, 1_000 + i);
    }
    blocks.looked(3, Long.MAX_VALUE);
    blocks.trim(BLOCK, block -> block == 3 || block == 20);
    assertThat(blocks.earliest(0, block -> true)).containsOnlyKeys(3L, 20L);
    assertThat(blocks.due(0, 5_000)).isEqualTo(20);
    assertThat(blocks.earliestMillis()).isEqualTo(1_020);
  }
}
