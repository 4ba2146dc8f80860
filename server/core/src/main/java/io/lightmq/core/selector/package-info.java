/** The language of message selectors: section 3.8 of the Jakarta Messaging specification. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.selector;
