/** The client's link to a broker: requests, publishing with credit, deliveries, reconnect. */
@org.jspecify.annotations.NullMarked
package io.lightmq.client.link;
