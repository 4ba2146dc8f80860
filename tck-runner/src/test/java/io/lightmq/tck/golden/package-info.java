/**
 * Stores and a protocol of before: a data directory that an older build has written, and a client
 * that speaks as the first version did, byte for byte.
 */
@NullMarked
package io.lightmq.tck.golden;

import org.jspecify.annotations.NullMarked;
