/** A broker in a process of its own, for programs that want to start, kill and restart one. */
@NullMarked
package io.lightmq.samples.broker;

import org.jspecify.annotations.NullMarked;
