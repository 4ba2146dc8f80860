/** What others may implement: the journal under a shard, and who may do what. */
@org.jspecify.annotations.NullMarked
package io.lightmq.spi;
