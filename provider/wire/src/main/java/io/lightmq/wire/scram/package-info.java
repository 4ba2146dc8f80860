/** SCRAM-SHA-256 (RFC 5802, RFC 7677): both sides of the exchange, as pure computation. */
@org.jspecify.annotations.NullMarked
package io.lightmq.wire.scram;
