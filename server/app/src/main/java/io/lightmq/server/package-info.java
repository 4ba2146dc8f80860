/** The process around a broker: settings file, command line, HTTP, logging. */
@org.jspecify.annotations.NullMarked
package io.lightmq.server;
