/** Who is connected, what each consumes, holds and has named, and what that may take. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.sessions;
