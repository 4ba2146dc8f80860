/**
 * What Jakarta Messaging 3.1 says and neither the TCK nor the JORAM suite looks at: restarts,
 * client identifiers, order, sessions side by side. A class is named by the section that it tests.
 */
@NullMarked
package io.lightmq.tck.assertions;

import org.jspecify.annotations.NullMarked;
