package io.lightmq.tck.hostile;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/** Values that a peer may not have thought of: bounds, their neighbours, and texts that bite. */
final class Hostile {
  private static final long[] BOUNDS = {
    0,
    1,
    2,
    127,
    128,
    255,
    1_000,
    1_024,
    10_000,
    16_383,
    16_384,
    20_001,
    65_536,
    100_001,
    Integer.MAX_VALUE - 1L,
    Integer.MAX_VALUE,
    1L << 31,
    1L << 32,
    (1L << 32) + 1,
    1L << 53,
    1L << 62,
    Long.MAX_VALUE - 1,
    Long.MAX_VALUE
  };
  private static final String[] TEXTS = {
    "",
    " ",
    "\n",
    "a\nb",
    "\u0000",
    "\u001b]0;owned\u0007\u001b[2J",
    "x\n2026-01-01 00:00:00 ERROR [shard] a line of a stranger",
    "${jndi:ldap://127.0.0.1:1/x}",
    "%s%n%d",
    "{}",
    "é\u202eñ\ufeff",
    "x".repeat(513),
    "y".repeat(4_097),
    "../../etc/passwd",
    "queue:a",
    "temp.1.1"
  };
  private static final String[] SELECTORS = {
    "a = 1",
    "a LIKE '%a_b0_0%' OR b LIKE '%%%_'",
    "(((((a > 1)))))",
    "a IN ('1','2') AND NOT b BETWEEN 1 AND 2",
    "a = ",
    "JMSPriority > 9223372036854775807",
    "a * 9223372036854775807 > -9223372036854775808",
    "a / 0 = 1",
    "'unended",
    "a = 1e999"
  };

  private final SplittableRandom random;

  Hostile(SplittableRandom random) {
    this.random = random;
  }

  boolean oneIn(int times) {
    return random.nextInt(times) == 0;
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  /** Any number that a V may hold; now and then one that none may. */
  long big() {
    return switch (random.nextInt(8)) {
      case 0, 1, 2 -> random.nextInt(6);
      case 3 -> random.nextLong() >>> (1 + random.nextInt(62));
      case 4 -> oneIn(40) ? -random.nextInt(9) - 1L : random.nextInt(300);
      default -> BOUNDS[random.nextInt(BOUNDS.length)];
    };
  }

  /** Any number that a v may hold. */
  long small() {
    return big() & Integer.MAX_VALUE;
  }

  /** Any 64 bits, signed: fields that are no varints. */
  long wild() {
    long value = oneIn(3) ? random.nextLong() : BOUNDS[random.nextInt(BOUNDS.length)];
    return random.nextBoolean() ? value : -value;
  }

  String text() {
    return oneIn(4) ? "t" + random.nextInt(20) : TEXTS[random.nextInt(TEXTS.length)];
  }

  String selector() {
    return SELECTORS[random.nextInt(SELECTORS.length)];
  }

  byte[] noise(int limit) {
    byte[] bytes = new byte[random.nextInt(limit)];
    random.nextBytes(bytes);
    return bytes;
  }

  long bits() {
    return random.nextLong();
  }

  /** A run as Publish has it: messages with an int length in front. */
  byte[] run(int count, boolean persistent) {
    byte[][] messages = new byte[count][];
    int bytes = 0;
    for (int i = 0; i < count; i++) {
      messages[i] = message(persistent);
      bytes += 4 + messages[i].length;
    }
    ByteBuffer run = ByteBuffer.allocate(bytes);
    for (byte[] message : messages) {
      run.putInt(oneIn(400) ? (int) wild() : message.length).put(message);
    }
    return run.array();
  }

  /** An encoded message, mostly with a good checksum, seldom with good values. */
  byte[] message(boolean persistent) {
    byte[] headers = oneIn(3) ? headers() : new byte[0];
    byte[] properties = oneIn(3) ? properties() : new byte[0];
    byte[] body = noise(200);
    ByteBuffer bytes = ByteBuffer.allocate(66 + headers.length + properties.length + body.length);
    bytes.putInt(0);
    bytes.put((byte) (oneIn(200) ? below(256) : 1));
    bytes.put((byte) (oneIn(50) ? below(256) : below(6)));
    bytes.put((byte) (oneIn(50) ? below(256) : below(10)));
    int flags = (persistent ? 1 : 0) | below(16) << 1;
    bytes.put((byte) (oneIn(50) ? below(256) : flags));
    bytes.putLong(oneIn(3) ? wild() : 0);
    bytes.putLong(oneIn(4) ? wild() : 0);
    bytes.putLong(wild());
    bytes.putLong(bits()).putLong(bits()).putLong(wild());
    put(bytes, headers.length).put(headers);
    put(bytes, properties.length).put(properties);
    bytes.put(body);
    byte[] whole = new byte[bytes.position()];
    bytes.get(0, whole);
    CRC32C crc = new CRC32C();
    crc.update(whole, 4, whole.length - 4);
    FrameBytes.putInt(whole, 0, oneIn(50) ? below(99) : (int) crc.getValue());
    return whole;
  }

  private byte[] headers() {
    if (oneIn(4)) {
      return noise(60);
    }
    FrameBytes all = new FrameBytes(0, 0);
    for (int left = below(4); left >= 0; left--) {
      int tag = below(7);
      all.u8(tag);
      byte[] text = text().getBytes(java.nio.charset.StandardCharsets.UTF_8);
      if (tag == 4 || tag == 5) {
        all.v(text.length + 1L).u8(below(6)).raw(text);
      } else {
        all.bytes(text);
      }
    }
    return fields(all);
  }

  private byte[] properties() {
    if (oneIn(4)) {
      return noise(60);
    }
    int count = below(5);
    FrameBytes all = new FrameBytes(0, 0);
    all.v(oneIn(30) ? small() : count);
    for (int i = 0; i < count; i++) {
      all.text(name());
      int tag = below(12);
      all.u8(tag);
      switch (tag) {
        case 3 -> all.u8(below(256));
        case 4, 5 -> all.u8(below(256)).u8(below(256));
        case 6, 8 -> all.i32((int) wild());
        case 7, 9 -> all.i64(wild());
        case 10 -> all.text(text());
        case 11 -> all.bytes(noise(20));
        default -> {}
      }
    }
    return fields(all);
  }

  private String name() {
    return switch (below(9)) {
      case 0 -> "JMSXUserID";
      case 1 -> "JMSXGroupID";
      case 2 -> "JMSXGroupSeq";
      case 3 -> "JMS_LightMQ_Origin";
      case 4 -> "JMS_LightMQ_OriginKind";
      case 5 -> text();
      default -> "a";
    };
  }

  private static byte[] fields(FrameBytes all) {
    byte[] frame = all.done();
    return java.util.Arrays.copyOfRange(frame, FrameBytes.HEADER_BYTES, frame.length);
  }

  private static ByteBuffer put(ByteBuffer bytes, int value) {
    int rest = value;
    while (rest > 127) {
      bytes.put((byte) ((rest & 127) | 128));
      rest >>>= 7;
    }
    return bytes.put((byte) rest);
  }
}
