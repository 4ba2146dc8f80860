/** What the XA specification demands of a resource, without any input or output. */
@org.jspecify.annotations.NullMarked
package io.lightmq.client.xa;
