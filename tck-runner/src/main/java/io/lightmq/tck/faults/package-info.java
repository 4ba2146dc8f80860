/**
 * Fault rounds: a real broker process is killed, cut from its disk, starved or flooded under load,
 * and a checker that knows each message by its identity compares promise and result.
 */
@NullMarked
package io.lightmq.tck.faults;

import org.jspecify.annotations.NullMarked;
