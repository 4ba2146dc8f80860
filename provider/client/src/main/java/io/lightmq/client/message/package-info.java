/** The five kinds of message with their conversions and their encoding. */
@org.jspecify.annotations.NullMarked
package io.lightmq.client.message;
