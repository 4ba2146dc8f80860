/** The admin verbs from a shell: a link of its own, tables and JSON. */
@org.jspecify.annotations.NullMarked
package io.lightmq.server.admin;
