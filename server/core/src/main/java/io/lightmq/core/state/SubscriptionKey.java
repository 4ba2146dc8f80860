package io.lightmq.core.state;

import org.jspecify.annotations.Nullable;

/** How clients name a shared or durable subscription. */
public record SubscriptionKey(@Nullable String clientId, String name) {}
