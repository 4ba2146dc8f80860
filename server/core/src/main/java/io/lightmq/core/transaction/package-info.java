/** Links of clients: which numbered runs and commits are taken, and with what outcome. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.transaction;
