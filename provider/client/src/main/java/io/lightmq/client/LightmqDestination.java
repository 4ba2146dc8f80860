package io.lightmq.client;

import io.lightmq.wire.entry.DestinationName;
import jakarta.jms.Destination;

/** A destination of this provider. */
interface LightmqDestination extends Destination {
  /** Its kind and name on the wire. */
  DestinationName destinationName();
}
