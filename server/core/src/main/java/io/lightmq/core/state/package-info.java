/**
 * What the records of a shard make: the state, how records change it, how they are written, its
 * snapshot.
 */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.state;
