package io.lightmq.core.storage;

/**
 * Marks failures of a read that say all there is to say, such as that a file has been deleted
 * meanwhile: reading the same bytes in smaller steps would change nothing.
 */
public interface ExplainedFailure {}
