/**
 * A broker with its listener, security and the verbs for users and the process, without HTTP, TOML
 * and CLI. The verbs for destinations are the core's.
 */
@org.jspecify.annotations.NullMarked
package io.lightmq.node;
