package io.lightmq.core.admin;

import io.lightmq.core.intake.Staging;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.sessions.LastConsumer;
import io.lightmq.core.sessions.PreparedUse;
import io.lightmq.core.state.Admission;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.wire.entry.FaultCode;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepared branches that an administrator rolls back by hand, also because he insists on deleting
 * what they touch: their transaction managers are told so until they forget them.
 */
@OwnedBy("shard")
public final class TouchedBranches {
  /** So many are rolled back in one turn. */
  static final int IN_TURN = 32;

  private static final Logger log = LoggerFactory.getLogger(TouchedBranches.class);

  private final Staging staging;
  private final Admission admission;

  public TouchedBranches(Staging staging, Admission admission) {
    this.staging = staging;
    this.admission = admission;
  }

  /**
   * Rolls back what touches something that is to be deleted, some branches in each turn.
   *
   * @param what is to be deleted
   * @param force whether it is to be deleted all the same
   * @return how many were rolled back; what is left has to be rolled back in later turns
   * @throws Refusal if branches touch it and it is not forced, or there is no room now
   */
  int rollBack(String what, List<StagedTransaction> touching, boolean force) {
    if (!touching.isEmpty() && !force) {
      throw PreparedUse.refusal(
          what, touching, ", or delete with force, which rolls them back against their managers");
    }
    List<StagedTransaction> now = touching.subList(0, Math.min(IN_TURN, touching.size()));
    for (StagedTransaction each : now) {
      rollBack(each, "rolled back since " + what + " was deleted by force");
    }
    if (!now.isEmpty()) {
      log.warn(
          "Rolled back {} prepared branches since {} is deleted by force: {}",
          now.size(),
          what,
          PreparedUse.names(now));
    }
    return now.size();
  }

  /** Rolls back one. */
  void rollBack(StagedTransaction branch, String cause) {
    checkRoom(branch);
    String user = branch.user();
    staging.rollBackByHand(branch, new LastConsumer(user == null ? "" : user, null, 0, cause));
  }

  /** Refuses what ends a branch while there is no room for its record. */
  void checkRoom(StagedTransaction branch) {
    if (!admission.admitSent(staging.decisionBytes(branch), false)) {
      throw new Refusal(
          FaultCode.RETRY_LATER, "the journal has no room for the record now; call it again");
    }
  }
}
