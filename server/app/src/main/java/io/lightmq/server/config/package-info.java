/** The configuration file: its keys, their defaults, and errors that name line and nearest key. */
@org.jspecify.annotations.NullMarked
package io.lightmq.server.config;
