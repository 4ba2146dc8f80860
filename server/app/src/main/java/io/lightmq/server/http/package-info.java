/** The admin port: health, readiness, metrics. */
@org.jspecify.annotations.NullMarked
package io.lightmq.server.http;
