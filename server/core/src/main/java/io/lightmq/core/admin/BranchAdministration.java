package io.lightmq.core.admin;

import io.lightmq.core.door.Command;
import io.lightmq.core.door.JsonWriter;
import io.lightmq.core.door.Peer;
import io.lightmq.core.intake.Staging;
import io.lightmq.core.record.TransactionName;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.transaction.StagedTransaction;
import io.lightmq.core.transaction.StagedTransactions;
import io.lightmq.wire.entry.BranchState;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import io.lightmq.wire.entry.Xid;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The admin verbs {@code xa.list|commit|rollback|forget} of branches of distributed transactions
 * that are prepared, or that an administrator has decided. Arguments: {@code owner} (only those of
 * one user), {@code limit} (100, at most 1,000), {@code branch} (which one, as {@code xa.list}
 * shows it).
 */
@OwnedBy("shard")
public final class BranchAdministration {
  private static final List<String> LIST = List.of("owner", "limit");
  private static final List<String> DECIDE = List.of("owner", "branch");
  private static final int MAX_LIMIT = 1_000;

  private final ShardState state;
  private final Staging staging;
  private final Recorder recorder;
  private final TouchedBranches rollBacks;
  private final TurnTime time;
  private final VerbTurns turns;

  public BranchAdministration(
      Staging staging,
      TouchedBranches rollBacks,
      Recorder recorder,
      TurnTime time,
      VerbTurns turns) {
    this.state = recorder.state();
    this.staging = staging;
    this.recorder = recorder;
    this.rollBacks = rollBacks;
    this.time = time;
    this.turns = turns;
  }

  /** The arguments that a verb may have. */
  static List<String> arguments(String verb) {
    return verb.equals("xa.list") ? LIST : DECIDE;
  }

  /** Carries a verb out; answers once what it changed is durable. */
  void execute(Command.Admin command) {
    switch (command.verb()) {
      case "xa.list" -> answer(command, list(command));
      case "xa.commit" -> commit(command, branch(command, true));
      case "xa.rollback" -> rollBack(command, branch(command, true));
      case "xa.forget" -> forget(command, branch(command, false));
      default ->
          throw AdminArguments.wrong(
              "verb "
                  + command.verb()
                  + " is unknown; known are xa.list, commit, rollback, forget");
    }
  }

  private void answer(Command.Admin command, JsonWriter json) {
    Peer peer = command.peer();
    recorder.anywhereOnceDurable(
        () -> peer.reply(command.correlation(), new Peer.Reply.Json(json.toString())));
  }

  // ---- list ----

  private JsonWriter list(Command.Admin command) {
    AdminArguments.check(command, LIST);
    int limit = AdminArguments.number(command, "limit", 100, MAX_LIMIT);
    String owner = command.arguments().get("owner");
    StagedTransactions all = state.transactions();
    List<StagedTransaction> found = new ArrayList<>();
    for (StagedTransaction each : all.all()) {
      if (each.branchState() != null && (owner == null || owner.equals(each.user()))) {
        found.add(each);
      }
    }
    found.sort(Comparator.comparingLong(StagedTransaction::preparedMillis));
    JsonWriter json =
        new JsonWriter()
            .beginObject()
            .number("prepared", all.prepared())
            .number("decided", all.decided())
            .number("open", all.open())
            .number("stagedBytes", all.bytes())
            .name("branches")
            .beginArray();
    for (StagedTransaction each : found.subList(0, Math.min(limit, found.size()))) {
      show(each, json.beginObject()).endObject();
    }
    return json.endArray().number("left", Math.max(0, found.size() - limit)).endObject();
  }

  private JsonWriter show(StagedTransaction each, JsonWriter json) {
    BranchState branchState = each.branchState();
    json.text("branch", each.shownName())
        .text("owner", each.user() == null ? "" : each.user())
        .text("state", branchState == null ? "" : wordOf(branchState))
        .number("ageSeconds", Math.max(0, time.millis() - each.preparedMillis()) / 1_000)
        .number("messages", each.messages())
        .number("bytes", each.bytes())
        .number("acknowledges", each.heldCount());
    return json;
  }

  private static String wordOf(BranchState branchState) {
    return branchState.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  // ---- decide ----

  /** The branch that a verb names. */
  private StagedTransaction branch(Command.Admin command, boolean prepared) {
    AdminArguments.check(command, DECIDE);
    String text = command.arguments().get("branch");
    if (text == null || text.isEmpty()) {
      throw AdminArguments.wrong("argument branch is missing; xa list shows them");
    }
    Xid xid;
    try {
      xid = Xid.parse(text);
    } catch (IllegalArgumentException e) {
      throw AdminArguments.wrong("branch " + Printable.of(text) + ": " + e.getMessage());
    }
    StagedTransaction found = find(xid, command.arguments().get("owner"));
    if (found == null || found.branchState() == null) {
      throw new Refusal(
          FaultCode.UNKNOWN_TRANSACTION,
          "no branch " + Printable.of(text) + " is prepared or decided; xa list shows them");
    }
    if (found.isPrepared() != prepared) {
      throw new Refusal(
          FaultCode.BAD_REQUEST,
          prepared
              ? "the branch is decided: " + wordOf(found.branchState())
              : "the branch is prepared; only what an administrator has decided is forgotten");
    }
    return found;
  }

  private @Nullable StagedTransaction find(Xid xid, @Nullable String owner) {
    if (owner != null) {
      return state.transactions().find(new TransactionName.OfUser(owner, xid));
    }
    StagedTransaction found = null;
    for (StagedTransaction each : state.transactions().all()) {
      if (each.branchState() != null
          && each.name() instanceof TransactionName.OfUser branch
          && branch.xid().equals(xid)) {
        if (found != null) {
          throw AdminArguments.wrong(
              "several users have a branch of this name; say whose with owner");
        }
        found = each;
      }
    }
    return found;
  }

  private void commit(Command.Admin command, StagedTransaction branch) {
    if (state.transactions().find(branch.id()) != branch || !branch.isPrepared()) {
      throw new Refusal(FaultCode.UNKNOWN_TRANSACTION, "the branch was decided meanwhile");
    }
    if (!staging.mayBeCommitted(branch)) {
      turns.later(command, () -> commit(command, branch));
      return;
    }
    rollBacks.checkRoom(branch);
    JsonWriter json = show(branch, new JsonWriter().beginObject()).endObject();
    staging.commitByHand(branch);
    answer(command, json);
  }

  private void rollBack(Command.Admin command, StagedTransaction branch) {
    JsonWriter json = show(branch, new JsonWriter().beginObject()).endObject();
    rollBacks.rollBack(branch, "rolled back by an administrator");
    answer(command, json);
  }

  private void forget(Command.Admin command, StagedTransaction branch) {
    JsonWriter json = show(branch, new JsonWriter().beginObject()).endObject();
    staging.forgetByHand(branch);
    answer(command, json);
  }
}
