package io.lightmq.embedded;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import javax.transaction.xa.Xid;

/** A branch id as a transaction manager makes it; all tests share the branches of this process. */
record XaName(byte[] id, byte[] branch) implements Xid {
  private static final int FORMAT = 51;
  private static final AtomicInteger LAST = new AtomicInteger();

  static XaName fresh() {
    int last = LAST.incrementAndGet();
    return new XaName(new byte[] {9, (byte) (last >> 8), (byte) last}, new byte[] {1});
  }

  @Override
  public int getFormatId() {
    return FORMAT;
  }

  @Override
  public byte[] getGlobalTransactionId() {
    return id.clone();
  }

  @Override
  public byte[] getBranchQualifier() {
    return branch.clone();
  }

  /** Whether another one, of whatever class, names the same branch. */
  boolean is(Xid other) {
    return other.getFormatId() == FORMAT
        && Arrays.equals(other.getGlobalTransactionId(), id)
        && Arrays.equals(other.getBranchQualifier(), branch);
  }
}
