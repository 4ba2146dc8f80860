package io.lightmq.core.storage.snapshot;

import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import io.lightmq.core.storage.DiskFullException;
import io.lightmq.wire.entry.Crc;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who a data directory is: file {@code store}, written before any other, and again once the first
 * batch is durable. Big-endian.
 *
 * <pre>
 *  0 long magic "LMQSTORE"                16 UUID store id, the shard's
 *  8 int  version 2                       32 32 bytes key
 * 12 int  flags, 1: it was used           64 12 bytes member id, 0: none yet
 *                                         76 int crc32c over bytes 0 to 76
 * </pre>
 *
 * <p>The store id is the shard's: all members that have it share one. The member id is this
 * directory's alone, made once and never given to another: a new disk is a new member. A file
 * without one, as brokers of before wrote it, gets one when it is opened, and those brokers still
 * read it.
 *
 * <p>Version 1 has 64 bytes, no flags and no key; it is written again as version 2. A file is
 * replaced as a whole: written, forced, renamed. If the disk is full then, an older store starts
 * all the same, with what its file lacks made for this start alone; the next one tries again.
 */
public final class StoreIdentity {
  /** Version of the layout of the whole directory. */
  public static final int VERSION = 2;

  /** Bytes of the {@link #key}. */
  public static final int KEY_BYTES = 32;

  private static final String NAME = "store";
  private static final int BYTES = 80;
  private static final int BYTES_OF_VERSION_1 = 64;
  private static final int KEY_AT = 32;
  private static final int MEMBER_AT = 64;
  private static final int USED = 1;
  private static final long MAGIC = 0x4C4D5153544F5245L;

  private static final Logger log = LoggerFactory.getLogger(StoreIdentity.class);

  private final Disk disk;
  private final UUID storeId;
  private final byte[] key;
  private final UUID memberId;
  private final boolean created;
  private boolean used;

  private StoreIdentity(
      Disk disk, UUID storeId, byte[] key, UUID memberId, boolean created, boolean used) {
    this.disk = disk;
    this.storeId = storeId;
    this.key = key;
    this.memberId = memberId;
    this.created = created;
    this.used = used;
  }

  /** Of this directory among those of the shard; 96 random bits, the others are 0. */
  public UUID memberId() {
    return memberId;
  }

  /** In the header of every file of this store; not secret. */
  public UUID storeId() {
    return storeId;
  }

  /** Whether the directory was new. */
  public boolean created() {
    return created;
  }

  /** Whether something durable was written to this store, so that it must not be found empty. */
  public boolean used() {
    return used;
  }

  /** Random bytes that never leave the broker; names that nobody may guess are made with them. */
  public byte[] key() {
    return key.clone();
  }

  /**
   * Remembers that the store is not empty any more, at the next start if the disk is full and this
   * is not its first. Blocks.
   *
   * @throws IOException if that could not be made durable
   */
  public void markUsed() throws IOException {
    if (!used) {
      if (created) {
        write(disk, storeId, key, memberId, USED);
        used = true;
      } else {
        used = writeIfRoom(disk, storeId, key, memberId, USED);
      }
    }
  }

  /**
   * Reads the identity or gives one to an empty directory.
   *
   * @param newId gives 128 random bits each time
   * @throws IOException if it is damaged, newer than this software, or missing beside other files
   */
  public static StoreIdentity openOrCreate(Disk disk, Supplier<UUID> newId) throws IOException {
    if (disk.exists(NAME)) {
      return read(disk, newId);
    }
    for (String folder : List.of("journal", "snapshots", "segments")) {
      List<String> names = disk.list(folder);
      if (!names.isEmpty()) {
        throw new IOException(
            "the data directory has no file \"store\" but %d files in %s/; restore it from a backup"
                .formatted(names.size(), folder));
      }
    }
    UUID id = newId.get();
    byte[] key = newKey(newId);
    UUID member = newMemberId(newId);
    write(disk, id, key, member, 0);
    return new StoreIdentity(disk, id, key, member, true, false);
  }

  private static UUID newMemberId(Supplier<UUID> newId) {
    UUID bits = newId.get();
    return new UUID(bits.getMostSignificantBits(), bits.getLeastSignificantBits() >>> 32);
  }

  private static byte[] newKey(Supplier<UUID> newId) {
    ByteBuffer key = ByteBuffer.allocate(KEY_BYTES);
    while (key.hasRemaining()) {
      UUID part = newId.get();
      key.putLong(part.getMostSignificantBits()).putLong(part.getLeastSignificantBits());
    }
    return key.array();
  }

  private static void write(Disk disk, UUID id, byte[] key, UUID member, int flags)
      throws IOException {
    String temporary = NAME + ".tmp";
    disk.delete(temporary);
    try (DiskFile file = disk.create(temporary)) {
      ByteBuffer bytes = ByteBuffer.allocate(BYTES);
      bytes.putLong(MAGIC).putInt(VERSION).putInt(flags);
      bytes.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits()).put(key);
      bytes.putLong(member.getMostSignificantBits()).putInt((int) member.getLeastSignificantBits());
      bytes.putInt(BYTES - 4, Crc.of(bytes, 0, BYTES - 4)).clear();
      file.write(0, bytes);
      file.force();
    }
    disk.rename(temporary, NAME);
    disk.forceDirectory("");
  }

  /** Writes again what is there in an older form; false if there is no room for it now. */
  private static boolean writeIfRoom(Disk disk, UUID id, byte[] key, UUID member, int flags)
      throws IOException {
    try {
      write(disk, id, key, member, flags);
      return true;
    } catch (IOException e) {
      if (!DiskFullException.isFull(e)) {
        throw e;
      }
      log.warn(
          "The disk is full: the file \"store\" of an older release stays as it is, and is written"
              + " anew by a start with room for it",
          e);
      return false;
    }
  }

  private static StoreIdentity read(Disk disk, Supplier<UUID> newId) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES);
    long size;
    try (DiskFile file = disk.open(NAME)) {
      size = file.size();
      file.read(0, bytes);
    }
    if (size < 12 || bytes.getLong(0) != MAGIC) {
      throw new IOException(
          "file \"store\" with %d bytes does not name a LightMQ store; is this its data directory?"
              .formatted(size));
    }
    int version = bytes.getInt(8);
    if (version > VERSION) {
      throw new IOException(
          "the store has version %d, this software reads up to %d; start a newer one"
              .formatted(version, VERSION));
    }
    int length = version == 1 ? BYTES_OF_VERSION_1 : BYTES;
    int stored = bytes.getInt(length - 4);
    int computed = Crc.of(bytes, 0, length - 4);
    if (size != length || stored != computed || version < 1) {
      throw new IOException(
          "file \"store\" is damaged: %d bytes, version %d, crc %08x; expected %d, %d, %08x; restore it from a backup"
              .formatted(size, version, stored, length, VERSION, computed));
    }
    UUID id = new UUID(bytes.getLong(16), bytes.getLong(24));
    if (version == 1) {
      byte[] key = newKey(newId);
      UUID member = newMemberId(newId);
      writeIfRoom(disk, id, key, member, 0);
      return new StoreIdentity(disk, id, key, member, false, false);
    }
    byte[] key = new byte[KEY_BYTES];
    bytes.get(KEY_AT, key);
    int flags = bytes.getInt(12) & USED;
    UUID member = new UUID(bytes.getLong(MEMBER_AT), bytes.getInt(MEMBER_AT + 8) & 0xFFFFFFFFL);
    if (member.getMostSignificantBits() == 0 && member.getLeastSignificantBits() == 0) {
      member = newMemberId(newId);
      writeIfRoom(disk, id, key, member, flags);
    }
    return new StoreIdentity(disk, id, key, member, false, flags != 0);
  }
}
