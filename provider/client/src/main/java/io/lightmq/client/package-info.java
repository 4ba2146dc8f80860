/** The JMS objects of an application and their connection to a broker. */
@org.jspecify.annotations.NullMarked
package io.lightmq.client;
