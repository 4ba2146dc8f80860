package io.lightmq.wire.entry;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * The name of a branch of a distributed transaction, as its transaction manager made it (X/Open
 * XA). Two are the same if all of their bytes are.
 *
 * @param formatId whose format the other two have
 * @param globalId of the transaction, 1 to {@value #MAX_PART_BYTES} bytes; not touched any more
 * @param branchQualifier of the branch in it, 0 to {@value #MAX_PART_BYTES} bytes; not touched any
 *     more
 */
public record Xid(int formatId, byte[] globalId, byte[] branchQualifier) {
  /** The longest global id, and the longest branch qualifier. */
  public static final int MAX_PART_BYTES = 64;

  public Xid {
    if (globalId.length == 0 || globalId.length > MAX_PART_BYTES) {
      throw new IllegalArgumentException(
          "a global transaction id has 1 to " + MAX_PART_BYTES + " bytes, not " + globalId.length);
    }
    if (branchQualifier.length > MAX_PART_BYTES) {
      throw new IllegalArgumentException(
          "a branch qualifier has at most "
              + MAX_PART_BYTES
              + " bytes, not "
              + branchQualifier.length);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Xid that
        && formatId == that.formatId
        && Arrays.equals(globalId, that.globalId)
        && Arrays.equals(branchQualifier, that.branchQualifier);
  }

  @Override
  public int hashCode() {
    return 31 * (31 * formatId + Arrays.hashCode(globalId)) + Arrays.hashCode(branchQualifier);
  }

  /** Format, global id and branch qualifier, the latter two in hexadecimal digits. */
  @Override
  public String toString() {
    HexFormat hex = HexFormat.of();
    return formatId + ":" + hex.formatHex(globalId) + ":" + hex.formatHex(branchQualifier);
  }

  /**
   * Reads what {@link #toString} wrote.
   *
   * @throws IllegalArgumentException if it is something else
   */
  public static Xid parse(String text) {
    String[] parts = text.split(":", -1);
    if (parts.length != 3) {
      throw new IllegalArgumentException(
          "a branch id is FORMAT:GLOBALID:QUALIFIER, the latter two in hexadecimal digits");
    }
    HexFormat hex = HexFormat.of();
    return new Xid(Integer.parseInt(parts[0]), hex.parseHex(parts[1]), hex.parseHex(parts[2]));
  }
}
