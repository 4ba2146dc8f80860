package io.lightmq.core.state;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * The messages of one run that have the same priority and so go into the same lane, in the order of
 * the run.
 *
 * @param messages each an int length and so many bytes, checked
 * @param skips who does not want which of them; by their places here
 */
public record LaneRun(int priority, int count, ByteBuffer messages, List<Skip> skips) {}
