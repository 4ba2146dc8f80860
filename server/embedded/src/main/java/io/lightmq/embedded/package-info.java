/** Client and broker in one process. */
@org.jspecify.annotations.NullMarked
package io.lightmq.embedded;
