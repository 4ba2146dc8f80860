/**
 * The demonstration: a file goes through a broker that is killed on the way, and every line is
 * counted.
 */
@NullMarked
package io.lightmq.samples.demo;

import org.jspecify.annotations.NullMarked;
