/** Frames between client and broker, and their codec. */
@org.jspecify.annotations.NullMarked
package io.lightmq.wire;
