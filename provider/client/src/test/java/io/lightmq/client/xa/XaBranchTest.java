package io.lightmq.client.xa;

import static javax.transaction.xa.XAException.XAER_DUPID;
import static javax.transaction.xa.XAException.XAER_INVAL;
import static javax.transaction.xa.XAException.XAER_NOTA;
import static javax.transaction.xa.XAException.XAER_PROTO;
import static javax.transaction.xa.XAException.XA_NOMIGRATE;
import static javax.transaction.xa.XAException.XA_RBCOMMFAIL;
import static javax.transaction.xa.XAException.XA_RBROLLBACK;
import static javax.transaction.xa.XAException.XA_RBTIMEOUT;
import static javax.transaction.xa.XAResource.TMFAIL;
import static javax.transaction.xa.XAResource.TMJOIN;
import static javax.transaction.xa.XAResource.TMNOFLAGS;
import static javax.transaction.xa.XAResource.TMRESUME;
import static javax.transaction.xa.XAResource.TMSUCCESS;
import static javax.transaction.xa.XAResource.TMSUSPEND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.transaction.xa.XAException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every call in every state with every flag has the code that the XA specification gives it. */
class XaBranchTest {
  private static final int OK = 0;
  private static final Object MINE = "mine";
  private static final Object OTHER = "other";

  private interface Call {
    void on(XaBranch branch) throws XAException;
  }

  /** The calls, by their names in the table. */
  private static final Map<String, Call> CALLS = new TreeMap<>();

  static {
    CALLS.put("start", b -> b.start(MINE, TMNOFLAGS));
    CALLS.put("join", b -> b.start(MINE, TMJOIN));
    CALLS.put("join other", b -> b.start(OTHER, TMJOIN));
    CALLS.put("resume", b -> b.start(MINE, TMRESUME));
    CALLS.put("resume other", b -> b.start(OTHER, TMRESUME));
    CALLS.put("start wrong", b -> b.start(MINE, TMSUCCESS));
    CALLS.put("end", b -> b.end(MINE, TMSUCCESS));
    CALLS.put("end other", b -> b.end(OTHER, TMSUCCESS));
    CALLS.put("fail", b -> b.end(MINE, TMFAIL));
    CALLS.put("suspend", b -> b.end(MINE, TMSUSPEND));
    CALLS.put("migrate", b -> b.end(MINE, TMSUSPEND | XaBranch.TMMIGRATE));
    CALLS.put("end wrong", b -> b.end(MINE, TMJOIN));
    CALLS.put("prepare", XaBranch::prepare);
    CALLS.put("one phase", b -> b.commit(true));
    CALLS.put("commit", b -> b.commit(false));
    CALLS.put("rollback", XaBranch::rollback);
    CALLS.put("forget", XaBranch::forget);
  }

  /** The states, and how a branch comes to them. */
  private enum From {
    ACTIVE(),
    SUSPENDED("suspend"),
    IDLE("end"),
    OTHER_ACTIVE("end", "join other"),
    PREPARING("end", "prepare"),
    PREPARED("end", "prepare", "prepared"),
    COMMITTING("end", "one phase"),
    DECIDING("end", "prepare", "prepared", "commit"),
    FAILED("fail"),
    DOOMED_ACTIVE("time over"),
    DOOMED_SUSPENDED("suspend", "time over"),
    DOOMED_IDLE("end", "time over"),
    ENDED("end", "ended");

    private final List<String> way;

    From(String... way) {
      this.way = List.of(way);
    }

    XaBranch branch() throws XAException {
      XaBranch branch = new XaBranch(MINE);
      for (String step : way) {
        switch (step) {
          case "time over" -> branch.doom(XA_RBTIMEOUT);
          case "prepared" -> branch.prepared();
          case "ended" -> branch.ended();
          default -> CALLS.get(step).on(branch);
        }
      }
      return branch;
    }
  }

  /** The code of each call that does not have XAER_PROTO in a state. */
  private static Map<String, Integer> expected(From from) {
    Map<String, Integer> codes = new TreeMap<>();
    CALLS.keySet().forEach(call -> codes.put(call, XAER_PROTO));
    codes.put("start", XAER_DUPID);
    codes.put("start wrong", XAER_INVAL);
    codes.put("end wrong", XAER_INVAL);
    switch (from) {
      case ACTIVE -> {
        codes.putAll(Map.of("join other", OK, "end", OK, "fail", OK, "suspend", OK));
        codes.put("migrate", XA_NOMIGRATE);
      }
      case SUSPENDED ->
          codes.putAll(
              Map.of("join other", OK, "resume", OK, "end", OK, "fail", OK, "rollback", OK));
      case IDLE ->
          codes.putAll(
              Map.of("join", OK, "join other", OK, "prepare", OK, "one phase", OK, "rollback", OK));
      case OTHER_ACTIVE -> codes.putAll(Map.of("join", OK, "end other", OK));
      case PREPARING -> codes.put("rollback", OK);
      case PREPARED, DECIDING -> codes.putAll(Map.of("commit", OK, "rollback", OK));
      case COMMITTING -> {}
      case ENDED -> codes.replaceAll((call, code) -> XAER_NOTA);
      case FAILED -> doomed(codes, XA_RBROLLBACK, "join", "join other", "prepare", "one phase");
      case DOOMED_ACTIVE -> {
        doomed(codes, XA_RBTIMEOUT, "join other", "end", "suspend", "migrate");
        codes.put("fail", OK);
        codes.put("rollback", XAER_PROTO);
      }
      case DOOMED_SUSPENDED -> {
        doomed(codes, XA_RBTIMEOUT, "join other", "resume", "end");
        codes.put("fail", OK);
      }
      case DOOMED_IDLE -> doomed(codes, XA_RBTIMEOUT, "join", "join other", "prepare", "one phase");
      default -> throw new AssertionError(from);
    }
    return codes;
  }

  private static void doomed(Map<String, Integer> codes, int code, String... calls) {
    for (String call : calls) {
      codes.put(call, code);
    }
    codes.put("rollback", OK);
  }

  @ParameterizedTest
  @EnumSource(From.class)
  void everyCallHasItsCode(From from) throws XAException {
    Map<String, Integer> codes = new TreeMap<>();
    for (Map.Entry<String, Call> call : CALLS.entrySet()) {
      XaBranch branch = from.branch();
      int code = OK;
      try {
        call.getValue().on(branch);
      } catch (XAException e) {
        code = e.errorCode;
        assertThat(e.getMessage()).isNotBlank();
      }
      codes.put(call.getKey(), code);
    }
    assertThat(codes).as("from %s", from).isEqualTo(expected(from));
  }

  @Test
  void workThatEndsInADoomedBranchHasEnded() throws XAException {
    XaBranch branch = new XaBranch(MINE);
    branch.doom(XA_RBCOMMFAIL);
    branch.doom(XA_RBTIMEOUT);
    assertThatThrownBy(() -> branch.end(MINE, TMSUCCESS))
        .isInstanceOfSatisfying(
            XAException.class, e -> assertThat(e.errorCode).isEqualTo(XA_RBCOMMFAIL));
    assertThat(branch.isActive(MINE)).isFalse();
    assertThat(branch.rollback()).as("the broker decides").isFalse();
  }

  @Test
  void whatCannotMigrateIsSuspendedAllTheSame() throws XAException {
    XaBranch branch = new XaBranch(MINE);
    assertThatThrownBy(() -> branch.end(MINE, TMSUSPEND | XaBranch.TMMIGRATE))
        .isInstanceOf(XAException.class);
    branch.start(MINE, TMRESUME);
    assertThat(branch.isActive()).isTrue();
  }

  @Test
  void whatIsPreparedIsNotDoomedAnyMore() throws XAException {
    XaBranch branch = From.PREPARED.branch();
    branch.doom(XA_RBTIMEOUT);
    branch.commit(false);
    assertThat(From.PREPARED.branch().rollback()).as("the broker decides").isTrue();
  }
}
