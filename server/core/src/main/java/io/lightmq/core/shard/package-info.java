/** A shard as a whole: its replica, its owner, its turns, its life, and the broker around it. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.shard;
