/** The journal on local files and the window over its newest bytes. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.storage.journal;
