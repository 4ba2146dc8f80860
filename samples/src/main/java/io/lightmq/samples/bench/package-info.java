/** A benchmark that knows only the Jakarta Messaging API, beside a measurement of the machine. */
@NullMarked
package io.lightmq.samples.bench;

import org.jspecify.annotations.NullMarked;
