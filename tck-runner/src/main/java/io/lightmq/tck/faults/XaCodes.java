package io.lightmq.tck.faults;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.transaction.xa.XAException;

/** The codes of an XAException, and which of them may come of a fault. */
final class XaCodes {
  private static final Map<Integer, String> NAMES = new TreeMap<>();

  /** Bounds of a range, which have the value of a code in it. */
  private static final Set<String> BOUNDS = Set.of("XA_RBBASE", "XA_RBEND");

  static {
    for (Field field : XAException.class.getFields()) {
      if (Modifier.isStatic(field.getModifiers()) && !BOUNDS.contains(field.getName())) {
        try {
          NAMES.put(field.getInt(null), field.getName());
        } catch (IllegalAccessException e) {
          throw new AssertionError(e);
        }
      }
    }
  }

  private XaCodes() {}

  static String name(int code) {
    return NAMES.getOrDefault(code, Integer.toString(code));
  }

  static boolean isRolledBack(int code) {
    return code >= XAException.XA_RBBASE && code <= XAException.XA_RBEND;
  }

  /**
   * Whether a call may end so when a broker or its connection has gone: it is not known what became
   * of it, or the branch was lost before it was prepared. Nobody has decided by heuristics here, no
   * call is out of order, and nothing is a failure of the resource itself.
   */
  static boolean isOfFault(String call, String code) {
    return switch (call) {
      case "prepare" -> code.equals("XAER_RMFAIL") || code.equals("XA_RBCOMMFAIL");
      case "commit", "recover" -> code.equals("XAER_RMFAIL");
      case "rollback" -> code.equals("XAER_RMFAIL") || code.equals("XA_RBCOMMFAIL");
      default -> false;
    };
  }
}
