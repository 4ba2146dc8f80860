package io.lightmq.client;

import io.lightmq.client.link.BrokerLink;
import io.lightmq.wire.entry.DestinationName;
import jakarta.jms.JMSException;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TemporaryTopic;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A temporary destination: of this connection, or one that came as a reply-to or was named by its
 * name. It keeps the name when its connection has been lost and is back, but for brokers that make
 * names anew.
 */
abstract sealed class TemporaryDestination implements LightmqDestination {
  private final Supplier<DestinationName> name;
  private final @Nullable LightmqConnection owner;
  final BrokerLink.@Nullable Temporary temporary;

  private TemporaryDestination(
      DestinationName fixed,
      @Nullable LightmqConnection owner,
      BrokerLink.@Nullable Temporary temporary) {
    this.name = temporary == null ? () -> fixed : temporary::name;
    this.owner = owner;
    this.temporary = temporary;
  }

  /** One that this connection has made. */
  static TemporaryDestination created(LightmqConnection owner, BrokerLink.Temporary temporary) {
    return temporary.name().kind().isQueue()
        ? new Queue(temporary.name(), owner, temporary)
        : new Topic(temporary.name(), owner, temporary);
  }

  /** One that was received as a name. */
  static TemporaryDestination named(DestinationName name) {
    return name.kind().isQueue() ? new Queue(name, null, null) : new Topic(name, null, null);
  }

  /** The connection that made it, if it was made here. */
  @Nullable LightmqConnection owner() {
    return owner;
  }

  @Override
  public DestinationName destinationName() {
    return name.get();
  }

  /** Deletes it; only for its own connection and without consumers. */
  public void delete() throws JMSException {
    if (owner == null) {
      throw io.lightmq.client.fault.JmsFaults.invalidDestination(
          "the temporary destination " + this + " belongs to another connection");
    }
    owner.deleteTemporary(this);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof TemporaryDestination that
        && destinationName().equals(that.destinationName());
  }

  /** The same for all of a kind, since names may change. */
  @Override
  public int hashCode() {
    return destinationName().kind().code();
  }

  @Override
  public String toString() {
    return destinationName().name();
  }

  private static final class Queue extends TemporaryDestination implements TemporaryQueue {
    Queue(
        DestinationName fixed,
        @Nullable LightmqConnection owner,
        BrokerLink.@Nullable Temporary temporary) {
      super(fixed, owner, temporary);
    }

    @Override
    public String getQueueName() {
      return destinationName().name();
    }
  }

  private static final class Topic extends TemporaryDestination implements TemporaryTopic {
    Topic(
        DestinationName fixed,
        @Nullable LightmqConnection owner,
        BrokerLink.@Nullable Temporary temporary) {
      super(fixed, owner, temporary);
    }

    @Override
    public String getTopicName() {
      return destinationName().name();
    }
  }
}
