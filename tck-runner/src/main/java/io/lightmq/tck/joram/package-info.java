/** What the JORAM suite's results are compared with, and how they are told. */
@NullMarked
package io.lightmq.tck.joram;

import org.jspecify.annotations.NullMarked;
