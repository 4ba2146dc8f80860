package io.lightmq.core.storage.snapshot;

import io.lightmq.core.storage.Disk;
import java.io.IOException;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Who a data directory is: file {@code store}, written once.
 *
 * @param storeId in the header of every file of this store
 * @param created whether the directory was new
 */
public record StoreIdentity(UUID storeId, boolean created) {
  /** Version of the layout of the whole directory. */
  public static final int VERSION = 1;

  /**
   * Reads the identity or gives one to an empty directory.
   *
   * @throws IOException if it is damaged, newer than this software, or missing beside other files
   */
  public static StoreIdentity openOrCreate(Disk disk, Supplier<UUID> newId) throws IOException {
    throw new IOException("being written");
  }
}
