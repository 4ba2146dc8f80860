/** Destinations: their lanes, where entries lie, subscriptions with cursors, and views on them. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.destination;
