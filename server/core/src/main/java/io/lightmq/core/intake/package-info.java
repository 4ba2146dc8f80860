/** How messages come in: the one door, and who waits for it, selects, and places. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.intake;
