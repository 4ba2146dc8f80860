package io.lightmq.core.simulation;

import io.lightmq.core.door.Command;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.MessageWriter;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Draws what messages contain, and encodes them. */
final class Wording {
  private static final int GROUPS = 5;
  private static final int KEYS = 30;
  private static final int MOST_BYTES = 1_024;

  private final World world;
  private final boolean priorities;

  Wording(World world) {
    this.world = world;
    this.priorities = world.random.nextInt(3) > 0;
  }

  Message.Content content(SimulatedDestination to, boolean persistent, int priority) {
    Random random = world.random;
    return new Message.Content(
        persistent,
        priority,
        random.nextInt(IntRange.VALUES),
        group(random, to),
        key(random),
        delayMillis(random),
        liveMillis(random),
        random.nextInt(random.nextInt(10) == 0 ? 500 : 100));
  }

  /** Mostly the default. */
  int priority() {
    return !priorities || world.random.nextInt(5) < 3 ? 4 : world.random.nextInt(10);
  }

  private @Nullable String group(Random random, SimulatedDestination to) {
    int group = random.nextInt(GROUPS * 2);
    return to.takesGroups && group < GROUPS ? "g" + group : null;
  }

  private @Nullable String key(Random random) {
    int key = random.nextInt(KEYS * 2);
    return world.has(Feature.SUPPRESSES) && key < KEYS ? "k" + key : null;
  }

  private long delayMillis(Random random) {
    int kind = random.nextInt(40);
    int part = random.nextInt(1_000_000);
    if (!world.has(Feature.DELAYS) || kind > 9) {
      return 0;
    }
    return 1 + part % (kind < 6 ? 2_000 : kind < 9 ? 30_000 : 7_200_000);
  }

  private long liveMillis(Random random) {
    int kind = random.nextInt(40);
    int part = random.nextInt(1_000_000);
    if (!world.has(Feature.EXPIRES) || kind > 5) {
      return 0;
    }
    return 1 + part % (kind < 4 ? 3_000 : 120_000);
  }

  /** A run as the broker is told it. */
  Command.Bytes bytes(List<Message> run) {
    ByteBuffer all = ByteBuffer.allocate(run.size() * MOST_BYTES);
    MessageWriter writer = new MessageWriter(MOST_BYTES);
    for (Message message : run) {
      Message.Content told = world.plant.told(message);
      writer
          .start(
              BodyType.TEXT,
              told.priority(),
              told.persistent(),
              told.liveMillis(),
              told.delayMillis())
          .messageId(world.seed, message.producer, message.order)
          .correlationId("k" + told.n())
          .properties(properties(message, told))
          .textBody(message.text())
          .finish();
      all.putInt(writer.length()).put(writer.array(), 0, writer.length());
    }
    return world.harness.bytes(all.flip());
  }

  private static Map<String, Object> properties(Message message, Message.Content told) {
    Map<String, Object> properties = new HashMap<>();
    properties.put("n", told.n());
    if (told.key() != null) {
      properties.put("key", told.key());
    }
    if (told.group() != null) {
      properties.put("JMSXGroupID", told.group());
      properties.put("JMSXGroupSeq", message.order % 17 == 0 ? -1 : message.order);
    }
    return properties;
  }
}
