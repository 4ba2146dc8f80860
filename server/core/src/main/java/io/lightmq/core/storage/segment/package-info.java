/** Write-once segments: what outlived the journal, with its directory and sparse index. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.storage.segment;
