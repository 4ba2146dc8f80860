/** How the state and the entries of the journal get into snapshots and segments. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.checkpoint;
