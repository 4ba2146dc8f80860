/** What a node counts, as Prometheus reads it. */
@org.jspecify.annotations.NullMarked
package io.lightmq.server.metrics;
