package io.lightmq.core.shard;

import org.jspecify.annotations.Nullable;

/** How clients name a shared or durable subscription. */
record SubscriptionKey(@Nullable String clientId, String name) {}
