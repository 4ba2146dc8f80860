package io.lightmq.tck.faults;

import java.util.ArrayList;
import java.util.List;

/**
 * What can be seen of a distributed transaction behind a crash and the recovery: it has happened
 * everywhere or nowhere, as the manager's log says.
 *
 * @param decided whether the log says that it is committed
 * @param wanted how many outputs it has
 * @param outputs how many of them came
 * @param ledger how many lines it has in the ledger of the other resource
 * @param orders how often its order comes again
 * @param unflagged how many of these come without JMSRedelivered
 * @param inDoubt branches that are still prepared, in both resources
 */
record XaOutcome(
    boolean decided,
    int wanted,
    int outputs,
    int ledger,
    int orders,
    int unflagged,
    List<String> inDoubt) {

  XaOutcome {
    inDoubt = List.copyOf(inDoubt);
  }

  /** The promises that are broken. */
  List<String> violations() {
    List<String> found = new ArrayList<>();
    String picture =
        " (%d of %d outputs, %d in the ledger, order comes %d times)"
            .formatted(outputs, wanted, ledger, orders);
    if (!inDoubt.isEmpty()) {
      found.add("left in doubt behind the recovery: " + inDoubt);
    }
    boolean all = outputs == wanted && ledger == 1 && orders == 0;
    boolean nothing = outputs == 0 && ledger == 0 && orders == 1;
    if (!all && !nothing) {
      found.add("a mixed outcome, or a message stuck, lost or doubled" + picture);
    } else if (all != decided) {
      found.add(
          (decided ? "decided to commit, and rolled back" : "not decided, and committed")
              + picture);
    }
    if (unflagged > 0) {
      found.add("an order that the application had seen comes again without its flag");
    }
    return found;
  }
}
