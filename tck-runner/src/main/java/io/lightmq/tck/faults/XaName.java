package io.lightmq.tck.faults;

import java.nio.ByteBuffer;
import javax.transaction.xa.Xid;
import org.jspecify.annotations.Nullable;

/**
 * The name of a branch: the number of its transaction, and which resource.
 *
 * @param transaction the number of the global transaction
 * @param branch the number of the resource in it
 */
record XaName(int transaction, int branch) implements Xid {
  private static final int FORMAT = 0x4c4d51; // LMQ

  /** What one of our managers has named so; null if another has named it. */
  static @Nullable XaName of(Xid xid) {
    byte[] global = xid.getGlobalTransactionId();
    byte[] branch = xid.getBranchQualifier();
    return xid.getFormatId() == FORMAT && global.length == 4 && branch.length == 4
        ? new XaName(ByteBuffer.wrap(global).getInt(), ByteBuffer.wrap(branch).getInt())
        : null;
  }

  @Override
  public int getFormatId() {
    return FORMAT;
  }

  @Override
  public byte[] getGlobalTransactionId() {
    return ByteBuffer.allocate(4).putInt(transaction).array();
  }

  @Override
  public byte[] getBranchQualifier() {
    return ByteBuffer.allocate(4).putInt(branch).array();
  }
}
