/** One client connection: handshake, limits, rights, credit, and what goes out to the client. */
@org.jspecify.annotations.NullMarked
package io.lightmq.node.connection;
