/** What those who stand outside say to a shard and hear from it, and what it is set up with. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.door;
