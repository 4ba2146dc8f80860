package io.lightmq.core.storage;

import java.io.IOException;
import java.util.List;

/**
 * The file seam: one data directory. Names are relative, with {@code /} between folders. All
 * methods may block and are called only on threads that are never interrupted.
 *
 * <p>Whatever opens a file throws a {@link NoFileHandleException} if there is no handle for it,
 * which passes. To force a folder that {@link #createFolder} has made or found needs none.
 *
 * <p>What survives a power cut: bytes that {@link DiskFile#force} covered, of names that {@link
 * #forceDirectory} covered.
 */
public interface Disk {
  /** Creates a new, empty file; fails if the name exists. */
  DiskFile create(String name) throws IOException;

  /** Opens an existing file to read and write. */
  DiskFile open(String name) throws IOException;

  /** Whether a file of this name exists. */
  boolean exists(String name) throws IOException;

  /** Plain names of the files in a folder, sorted; empty if the folder does not exist. */
  List<String> list(String folder) throws IOException;

  /** Creates a folder and its parents if missing, and forces their directories. */
  void createFolder(String folder) throws IOException;

  /** Renames atomically, replacing the target. Durable after {@link #forceDirectory}. */
  void rename(String from, String to) throws IOException;

  /**
   * Renames an open file, replacing the target, as {@link #rename(String, String)} does.
   *
   * @return the same handle under the new name; the one given is not to be used any more
   */
  DiskFile rename(DiskFile file, String to) throws IOException;

  /** Deletes a file if it exists. */
  void delete(String name) throws IOException;

  /** Makes creations, renames and deletions in a folder ({@code ""} for the root) durable. */
  void forceDirectory(String folder) throws IOException;

  /** Bytes that can still be written, as the file system tells. */
  long usableBytes() throws IOException;

  /** Bytes of the file system as a whole. */
  long totalBytes() throws IOException;
}
