/** Runs the Jakarta Messaging TCK, which the user has obtained, against a broker. */
@NullMarked
package io.lightmq.tck.suite;

import org.jspecify.annotations.NullMarked;
