/** Unforced files for unlogged messages that memory has no room for; start wipes them. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.storage.overflow;
