/** Snapshots, the only root of a shard's files, and what lies beside them: identity, ballast. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.storage.snapshot;
