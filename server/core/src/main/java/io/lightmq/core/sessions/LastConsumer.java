package io.lightmq.core.sessions;

import org.jspecify.annotations.Nullable;

/**
 * Who had a message last, and what it failed with.
 *
 * @param exception what its application said, null if it said nothing
 */
public record LastConsumer(
    String user, @Nullable String clientId, long connectionId, @Nullable String exception) {}
