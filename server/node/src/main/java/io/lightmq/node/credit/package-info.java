/** Publish credit: what all clients together may have under way to the broker. */
@org.jspecify.annotations.NullMarked
package io.lightmq.node.credit;
