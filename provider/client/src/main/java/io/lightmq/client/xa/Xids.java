package io.lightmq.client.xa;

import javax.transaction.xa.XAException;
import javax.transaction.xa.Xid;
import org.jspecify.annotations.Nullable;

/** Branch ids of transaction managers, and the same as this client sends them. */
public final class Xids {
  /** The format of a branch id that stands for none. */
  private static final int NULL_FORMAT = -1;

  private Xids() {}

  /**
   * Copies what a transaction manager gives.
   *
   * @throws XAException XAER_INVAL if it is none
   */
  public static io.lightmq.wire.entry.Xid of(@Nullable Xid xid) throws XAException {
    if (xid == null || xid.getFormatId() == NULL_FORMAT) {
      throw XaFailures.of(XAException.XAER_INVAL, "there is no branch id");
    }
    byte[] globalId = xid.getGlobalTransactionId();
    byte[] qualifier = xid.getBranchQualifier();
    if (globalId == null || qualifier == null) {
      throw XaFailures.of(XAException.XAER_INVAL, "a part of the branch id is null");
    }
    try {
      return new io.lightmq.wire.entry.Xid(xid.getFormatId(), globalId.clone(), qualifier.clone());
    } catch (IllegalArgumentException e) {
      throw XaFailures.of(XAException.XAER_INVAL, String.valueOf(e.getMessage()), e);
    }
  }

  /** For a transaction manager. */
  public static Xid of(io.lightmq.wire.entry.Xid xid) {
    return new Told(xid);
  }

  private record Told(io.lightmq.wire.entry.Xid xid) implements Xid {
    @Override
    public int getFormatId() {
      return xid.formatId();
    }

    @Override
    public byte[] getGlobalTransactionId() {
      return xid.globalId().clone();
    }

    @Override
    public byte[] getBranchQualifier() {
      return xid.branchQualifier().clone();
    }

    @Override
    public String toString() {
      return xid.toString();
    }
  }
}
