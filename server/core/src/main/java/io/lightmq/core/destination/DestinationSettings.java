package io.lightmq.core.destination;

import io.lightmq.spi.Durability;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * What can be set per destination.
 *
 * @param tier the mark that a persistent send waits for
 */
public record DestinationSettings(Durability tier) {
  private static final int VERSION = 1;

  /** What a destination has that no rule and no verb speaks of. */
  public static final DestinationSettings DEFAULT = new DestinationSettings(Durability.HIGH);

  /** Writes version and fields. */
  public void encode(DataOutput out) throws IOException {
    out.writeByte(VERSION);
    out.writeByte(
        switch (tier) {
          case PERFORMANCE -> 0;
          case BALANCED -> 1;
          case HIGH -> 2;
        });
  }

  /** Reads what {@link #encode} wrote. */
  public static DestinationSettings decode(DataInput in) throws IOException {
    Formats.version("destination settings", in.readUnsignedByte(), VERSION);
    int code = in.readUnsignedByte();
    return new DestinationSettings(
        switch (code) {
          case 0 -> Durability.PERFORMANCE;
          case 1 -> Durability.BALANCED;
          case 2 -> Durability.HIGH;
          default -> throw new IOException("tier " + code + " is unknown; known are 0 to 2");
        });
  }
}
