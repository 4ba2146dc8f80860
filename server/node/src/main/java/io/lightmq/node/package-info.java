/** A broker with its listener, security and admin verbs, without HTTP, TOML and CLI. */
@org.jspecify.annotations.NullMarked
package io.lightmq.node;
