/** Bytes on disk and in the window: journal, segments, snapshots, and the disk seam. */
@org.jspecify.annotations.NullMarked
package io.lightmq.core.storage;
