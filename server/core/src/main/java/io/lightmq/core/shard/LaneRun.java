package io.lightmq.core.shard;

import java.nio.ByteBuffer;

/**
 * The messages of one run that have the same priority and so go into the same lane, in the order of
 * the run.
 *
 * @param messages each an int length and so many bytes, checked
 */
record LaneRun(int priority, int count, ByteBuffer messages) {}
