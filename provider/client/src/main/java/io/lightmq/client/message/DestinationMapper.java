package io.lightmq.client.message;

import io.lightmq.wire.entry.DestinationName;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;

/** Turns JMS destinations into names on the wire and back. */
public interface DestinationMapper {
  /**
   * The name of a destination, also of another provider's.
   *
   * @throws jakarta.jms.InvalidDestinationException if it has none
   */
  DestinationName nameOf(Destination destination) throws JMSException;

  /** The JMS object for a name. */
  Destination destinationOf(DestinationName name);
}
