/**
 * Messages that change their place without a client: dead letters, due ones, expired ones, retries.
 */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.moves;
