/** Users with their salted credentials, and what their roles permit. */
@org.jspecify.annotations.NullMarked
package io.lightmq.node.security;
