/** The durable facts of a shard, and their bytes in the journal. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.record;
