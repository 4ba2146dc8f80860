/** Threads and time: the only package that starts threads or reads clocks. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.runtime;
