/** Small programs, one idea each, for somebody who sees LightMQ for the first time. */
@NullMarked
package io.lightmq.samples;

import org.jspecify.annotations.NullMarked;
