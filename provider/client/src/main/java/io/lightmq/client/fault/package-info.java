/** The one place where JMS exceptions are made. */
@org.jspecify.annotations.NullMarked
package io.lightmq.client.fault;
