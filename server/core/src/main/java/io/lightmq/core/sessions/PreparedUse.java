package io.lightmq.core.sessions;

import io.lightmq.core.state.Refusal;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import java.util.List;
import java.util.stream.Collectors;

/** Says which prepared branches need what somebody wants to delete, and what to do about it. */
public final class PreparedUse {
  private static final int MAX_NAMED = 3;

  private PreparedUse() {}

  /**
   * Why something is not deleted.
   *
   * @param what it is
   * @param touching the branches that need it, at least one
   * @param otherwise what else may be done than to decide them first; empty for nothing
   */
  public static Refusal refusal(String what, List<StagedTransaction> touching, String otherwise) {
    int count = touching.size();
    return new Refusal(
        FaultCode.IN_USE,
        what
            + " is touched by "
            + count
            + (count == 1 ? " prepared branch, " : " prepared branches, ")
            + names(touching)
            + "; have "
            + (count == 1 ? "it" : "them")
            + " decided first: bin/lightmq xa list shows them"
            + otherwise);
  }

  /** The first of some branches by their names, and how many there are besides. */
  public static String names(List<StagedTransaction> branches) {
    String first =
        branches.stream().limit(MAX_NAMED).map(PreparedUse::name).collect(Collectors.joining(", "));
    return branches.size() > MAX_NAMED
        ? first + " and " + (branches.size() - MAX_NAMED) + " more"
        : first;
  }

  private static String name(StagedTransaction branch) {
    return branch.shownName() + " of user " + Printable.of(branch.user());
  }
}
