/** What client, wire, journal and segments share: entries, messages, names, codes. Pure JDK. */
@org.jspecify.annotations.NullMarked
package io.lightmq.wire.entry;
