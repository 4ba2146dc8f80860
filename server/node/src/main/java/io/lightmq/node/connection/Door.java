package io.lightmq.node.connection;

import io.lightmq.core.door.Command;
import io.lightmq.node.credit.CreditLedger;
import io.lightmq.node.security.Security;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * What every connection of a broker needs of it.
 *
 * @param epoch that of the broker's newest leadership, which no other one anywhere has: it makes
 *     connection ids unique; any thread
 * @param shard takes commands
 * @param admin runs what may block
 * @param commits for commits, from their first bytes until the shard has copied their messages
 * @param requests for other long frames while they arrive
 * @param decoded for the heap of what long frames become, until they are carried out or answered
 * @param verbs the admin verbs that are not the shard's
 * @param heap for what connections have open
 * @param open requests without an answer
 */
public record Door(
    ConnectionSettings settings,
    UUID storeId,
    LongSupplier epoch,
    Consumer<Command> shard,
    Executor admin,
    Security security,
    CreditLedger credit,
    DeliveryBudget deliveries,
    FrameBudget commits,
    FrameBudget requests,
    FrameBudget decoded,
    NodeVerbs verbs,
    ConnectionHeap heap,
    OpenRequests open) {}
