package io.lightmq.core.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.entry.Crc;
import java.nio.ByteBuffer;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** The CRC of any part of a span is what reading that part would give. */
final class SpanCrcProperties {
  @Property(tries = 500)
  void aPartHasTheCrcOfItsBytes(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] bytes = new byte[1 + random.nextInt(random.nextInt(20) == 0 ? 2 << 20 : 5_000)];
    random.nextBytes(bytes);
    ByteBuffer span = ByteBuffer.wrap(bytes);
    int limit = 1 + random.nextInt(bytes.length);
    SpanCrc sums = new SpanCrc(span, limit);
    for (int i = 0; i < 20; i++) {
      int to = random.nextInt(limit + 1);
      int from = random.nextInt(to + 1);
      assertThat(sums.of(from, to)).as("%d to %d", from, to).isEqualTo(Crc.of(span, from, to));
    }
    assertThat(sums.of(0, limit)).isEqualTo(Crc.of(span, 0, limit));
  }
}
