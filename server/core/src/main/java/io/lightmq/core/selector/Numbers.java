package io.lightmq.core.selector;

import io.lightmq.core.selector.Expr.ApproximateLiteral;
import io.lightmq.core.selector.Expr.ExactLiteral;
import io.lightmq.core.selector.Expr.Value;

/**
 * Reads numeric literals: those of the Java language, as section 3.8.1.1 says, except that an exact
 * one needs no suffix to be a long.
 */
final class Numbers {
  private Numbers() {}

  /**
   * The value of a literal.
   *
   * @param negative whether a minus stands before it, which is part of the value
   */
  static Value parse(String text, boolean negative, int column) throws InvalidSelectorException {
    try {
      return isApproximate(text) ? approximate(text, negative) : exact(text, negative);
    } catch (NumberFormatException e) {
      throw new InvalidSelectorException(
          column,
          "\""
              + Lexer.shortened(text)
              + "\" is no number, or none between those of a long or double; written like 57, 0x39,"
              + " 57L, 7., -57.9E2 or 7E3");
    }
  }

  private static boolean isHexadecimal(String text) {
    return text.regionMatches(true, 0, "0x", 0, 2);
  }

  private static boolean isApproximate(String text) {
    if (isHexadecimal(text)) {
      return text.indexOf('p') >= 0 || text.indexOf('P') >= 0 || text.indexOf('.') >= 0;
    }
    if (text.regionMatches(true, 0, "0b", 0, 2)) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      if (".eEfFdD".indexOf(text.charAt(i)) >= 0) {
        return true;
      }
    }
    return false;
  }

  private static Value approximate(String text, boolean negative) {
    String digits = withoutUnderscores(text);
    char last = digits.charAt(digits.length() - 1);
    boolean hexadecimal = isHexadecimal(text);
    if (hexadecimal && digits.indexOf('p') < 0 && digits.indexOf('P') < 0) {
      throw new NumberFormatException();
    }
    if (last == 'f' || last == 'F') {
      float value = Float.parseFloat(digits);
      return new ApproximateLiteral(Kind.FLOAT, finite(negative ? -value : value));
    }
    double value = Double.parseDouble(digits);
    return new ApproximateLiteral(Kind.DOUBLE, finite(negative ? -value : value));
  }

  private static double finite(double value) {
    if (Double.isInfinite(value) || Double.isNaN(value)) {
      throw new NumberFormatException();
    }
    return value;
  }

  private static Value exact(String text, boolean negative) {
    char last = text.charAt(text.length() - 1);
    boolean suffix = last == 'l' || last == 'L';
    String digits = withoutUnderscores(suffix ? text.substring(0, text.length() - 1) : text);
    long value;
    if (isHexadecimal(digits)) {
      value = sign(unsigned(digits.substring(2), 16), negative);
    } else if (digits.regionMatches(true, 0, "0b", 0, 2)) {
      value = sign(unsigned(digits.substring(2), 2), negative);
    } else if (digits.length() > 1 && digits.charAt(0) == '0') {
      value = sign(unsigned(digits.substring(1), 8), negative);
    } else {
      unsigned(digits, 10);
      value = Long.parseLong(negative ? "-" + digits : digits);
    }
    boolean small = !suffix && value == (int) value;
    return new ExactLiteral(small ? Kind.INT : Kind.LONG, value);
  }

  private static long sign(long value, boolean negative) {
    return negative ? -value : value;
  }

  private static long unsigned(String digits, int radix) {
    for (int i = 0; i < digits.length(); i++) {
      if (digits.charAt(i) >= 0x80) {
        throw new NumberFormatException(); // digits of other scripts
      }
    }
    return Long.parseUnsignedLong(digits, radix);
  }

  /** As in Java underscores stand between two digits, and nowhere else. */
  private static String withoutUnderscores(String text) {
    if (text.indexOf('_') < 0) {
      return text;
    }
    StringBuilder digits = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c != '_') {
        digits.append(c);
        continue;
      }
      int behind = i + 1;
      while (behind < text.length() && text.charAt(behind) == '_') {
        behind++;
      }
      if (!(isDigit(text, i - 1) && isDigit(text, behind))) {
        throw new NumberFormatException();
      }
      i = behind - 1;
    }
    return digits.toString();
  }

  private static boolean isDigit(String text, int at) {
    return at >= 0 && at < text.length() && Character.digit(text.charAt(at), 16) >= 0;
  }
}
