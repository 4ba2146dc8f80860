package io.lightmq.core.state;

import io.lightmq.core.destination.Subscription;
import java.util.BitSet;

/**
 * Messages of a run that a subscription does not want.
 *
 * @param messages by their places in the run; at least one, never changed
 */
public record Skip(Subscription subscription, BitSet messages) {}
