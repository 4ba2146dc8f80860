/** The verbs of those who manage a broker, and their answers. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.admin;
