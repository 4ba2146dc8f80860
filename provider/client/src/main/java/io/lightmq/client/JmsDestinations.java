package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.message.DestinationMapper;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.TemporaryName;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Queue;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TemporaryTopic;
import jakarta.jms.Topic;
import org.jspecify.annotations.Nullable;

/** Between JMS destinations and names on the wire. */
final class JmsDestinations implements DestinationMapper {
  @Override
  public DestinationName nameOf(@Nullable Destination destination) throws JMSException {
    if (destination instanceof LightmqDestination own) {
      return own.destinationName();
    } else if (destination instanceof TemporaryQueue queue) {
      return name(DestinationKind.TEMPORARY_QUEUE, queue.getQueueName());
    } else if (destination instanceof TemporaryTopic topic) {
      return name(DestinationKind.TEMPORARY_TOPIC, topic.getTopicName());
    } else if (destination instanceof Queue queue) {
      return TemporaryName.meant(name(DestinationKind.QUEUE, queue.getQueueName()));
    } else if (destination instanceof Topic topic) {
      return TemporaryName.meant(name(DestinationKind.TOPIC, topic.getTopicName()));
    }
    throw JmsFaults.invalidDestination(
        destination == null
            ? "the destination is null"
            : "a " + destination.getClass().getName() + " is neither Queue nor Topic");
  }

  /** The destination as a queue; a consumer or producer of a topic has none. */
  static Queue asQueue(Destination destination) throws JMSException {
    if (destination instanceof Queue queue) {
      return queue;
    }
    throw JmsFaults.illegalState(destination + " is a topic, so it cannot be asked for as a queue");
  }

  /** The destination as a topic; a consumer or producer of a queue has none. */
  static Topic asTopic(Destination destination) throws JMSException {
    if (destination instanceof Topic topic) {
      return topic;
    }
    throw JmsFaults.illegalState(destination + " is a queue, so it cannot be asked for as a topic");
  }

  static DestinationName name(DestinationKind kind, @Nullable String name) throws JMSException {
    if (name == null) {
      throw JmsFaults.invalidDestination("the destination's name is null");
    }
    try {
      return new DestinationName(kind, name);
    } catch (IllegalArgumentException e) {
      throw JmsFaults.invalidDestination(String.valueOf(e.getMessage()));
    }
  }

  /** The queue or topic of a name, which may be that of a temporary one. */
  Destination named(DestinationKind kind, @Nullable String name) throws JMSException {
    return destinationOf(TemporaryName.meant(name(kind, name)));
  }

  @Override
  public Destination destinationOf(DestinationName name) {
    return switch (name.kind()) {
      case QUEUE -> new LightmqQueue(name.name());
      case TOPIC -> new LightmqTopic(name.name());
      case TEMPORARY_QUEUE, TEMPORARY_TOPIC -> TemporaryDestination.named(name);
    };
  }
}
