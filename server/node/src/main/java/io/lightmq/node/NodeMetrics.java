package io.lightmq.node;

import io.lightmq.core.shard.BrokerMetrics;

/**
 * What a node counts, at one moment.
 *
 * @param connections open, those in their handshake included
 * @param halfOpenConnections of them, those that have not said yet who they are
 * @param refusedConnections refused for want of a place, since start
 * @param networkBytes direct memory of the connections
 * @param networkBoundBytes what that never needs more than with so many connections
 * @param creditBytes what clients may have under way or have under way
 * @param creditBudgetBytes what that never passes
 */
public record NodeMetrics(
    BrokerMetrics broker,
    int connections,
    int halfOpenConnections,
    long refusedConnections,
    long networkBytes,
    long networkBoundBytes,
    long creditBytes,
    long creditBudgetBytes) {}
