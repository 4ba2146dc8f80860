package io.lightmq.client;

import java.util.List;

/** Messages for a session, in order, with the count of connections lost before. */
record Batch(List<Arrived> messages, int losses) {}
