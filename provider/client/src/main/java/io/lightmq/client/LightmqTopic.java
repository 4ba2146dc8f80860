package io.lightmq.client;

import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.TemporaryName;
import jakarta.jms.Topic;
import java.io.Serializable;
import javax.naming.Reference;
import javax.naming.Referenceable;
import javax.naming.StringRefAddr;

/** A topic by name, independent of any connection. */
public final class LightmqTopic implements Topic, LightmqDestination, Serializable, Referenceable {
  private static final long serialVersionUID = 1L;

  private final String name;

  /**
   * The topic of a name.
   *
   * @throws IllegalArgumentException if the name has no characters, more than 512 bytes or control
   *     characters
   */
  public LightmqTopic(String name) {
    this.name = new DestinationName(DestinationKind.TOPIC, name).name();
  }

  @Override
  public String getTopicName() {
    return name;
  }

  @Override
  public DestinationName destinationName() {
    return TemporaryName.meant(new DestinationName(DestinationKind.TOPIC, name));
  }

  @Override
  public Reference getReference() {
    return new Reference(
        LightmqTopic.class.getName(),
        new StringRefAddr(LightmqObjectFactory.NAME, name),
        LightmqObjectFactory.class.getName(),
        null);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof LightmqTopic that && name.equals(that.name);
  }

  @Override
  public int hashCode() {
    return 31 * "Topic".hashCode() + name.hashCode();
  }

  /** The name. */
  @Override
  public String toString() {
    return name;
  }
}
