/** The state machine of a shard and the door to it. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.shard;
