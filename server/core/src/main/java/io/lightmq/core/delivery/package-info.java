/** How messages get from lanes to consumers: pulls, fairness, batches, reads, returns. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.delivery;
