/** A naming context whose bindings come from properties. */
@org.jspecify.annotations.NullMarked
package io.lightmq.jndi;
