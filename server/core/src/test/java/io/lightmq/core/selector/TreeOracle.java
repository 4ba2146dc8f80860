package io.lightmq.core.selector;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.StringJoiner;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A second implementation of selectors, for tests: random trees that print themselves and evaluate
 * themselves on a map of boxed Java values. It shares nothing with the one under test; LIKE is a
 * regular expression here, a truth value a Boolean or null.
 */
final class TreeOracle {
  /** What arithmetic makes of something that is no number. */
  private static final Object NO_NUMBER = new Object();

  /** Prints with random white space, case, brackets and spellings. */
  static final class Printer {
    private final Random random;

    Printer(Random random) {
      this.random = random;
    }

    String space() {
      return random.nextInt(8) == 0 ? (random.nextBoolean() ? "\t" : " \r\n ") : " ";
    }

    String word(String word) {
      StringBuilder text = new StringBuilder();
      boolean lower = random.nextBoolean();
      boolean mixed = random.nextInt(4) == 0;
      for (char c : word.toCharArray()) {
        boolean low = mixed ? random.nextBoolean() : lower;
        text.append(low ? Character.toLowerCase(c) : c);
      }
      return space() + text + space();
    }

    String maybeBrackets(String text) {
      return random.nextInt(6) == 0 ? "(" + text + ")" : text;
    }

    static String string(String value) {
      return "'" + value.replace("'", "''") + "'";
    }
  }

  /** A node; {@code level} is its precedence, for brackets. */
  interface Node {
    String print(Printer printer);

    int level();

    default String print(Printer printer, int least) {
      String text = print(printer);
      return level() < least ? "(" + text + ")" : printer.maybeBrackets(text);
    }
  }

  interface Value extends Node {
    @Nullable Object value(Map<String, @Nullable Object> message);
  }

  interface Condition extends Node {
    @Nullable Boolean test(Map<String, @Nullable Object> message);
  }

  // ---- values ----

  record Literal(Object of) implements Value {
    @Override
    public @Nullable Object value(Map<String, @Nullable Object> message) {
      return of;
    }

    @Override
    public int level() {
      return of instanceof Number number && isNegative(number) ? 8 : 9;
    }

    private static boolean isNegative(Number number) {
      return number.toString().startsWith("-");
    }

    @Override
    public String print(Printer printer) {
      if (of instanceof String text) {
        return Printer.string(text);
      }
      if (of instanceof Integer number) {
        return switch (printer.random.nextInt(number < 0 ? 1 : 4)) {
          case 1 -> "0x" + Integer.toHexString(number);
          case 2 -> "0" + Integer.toOctalString(number);
          case 3 -> "0B" + Integer.toBinaryString(number);
          default -> number.toString();
        };
      }
      if (of instanceof Long number) {
        return number + (number == number.intValue() || printer.random.nextBoolean() ? "L" : "");
      }
      if (of instanceof Float number) {
        return number + (printer.random.nextBoolean() ? "f" : "F");
      }
      if (of instanceof Double number) {
        return number + (printer.random.nextBoolean() ? "" : "d");
      }
      return printer.word(of.toString().toUpperCase(java.util.Locale.ROOT));
    }
  }

  record Name(String name) implements Value, Condition {
    @Override
    public @Nullable Object value(Map<String, @Nullable Object> message) {
      Object value = message.get(name);
      if (name.equals("JMSDeliveryMode") && value == null) {
        return "PERSISTENT";
      }
      if (name.equals("JMSTimestamp") && value == null) {
        return 0L;
      }
      if (name.equals("JMSPriority") && value == null) {
        return 4;
      }
      return value;
    }

    @Override
    public @Nullable Boolean test(Map<String, @Nullable Object> message) {
      Object value = value(message);
      return value == null ? null : Boolean.TRUE.equals(value);
    }

    @Override
    public int level() {
      return 9;
    }

    @Override
    public String print(Printer printer) {
      return name;
    }
  }

  record Negative(Value of) implements Value {
    @Override
    public @Nullable Object value(Map<String, @Nullable Object> message) {
      Object value = of.value(message);
      if (value == null) {
        return null;
      }
      if (value instanceof Double number) {
        return -number;
      }
      if (value instanceof Float number) {
        return -number;
      }
      if (value instanceof Long number) {
        return -number;
      }
      return value instanceof Number number ? (Object) (-number.intValue()) : NO_NUMBER;
    }

    @Override
    public int level() {
      return 8;
    }

    @Override
    public String print(Printer printer) {
      // A long that is an int once it is negative stays a long only in brackets.
      boolean number = of instanceof Literal literal && literal.of() instanceof Long;
      return "- " + of.print(printer, number ? 10 : 8);
    }
  }

  record Calculation(char operator, Value left, Value right) implements Value {
    @Override
    public @Nullable Object value(Map<String, @Nullable Object> message) {
      Object first = left.value(message);
      Object second = right.value(message);
      if (first == null || second == null) {
        return null;
      }
      if (!(first instanceof Number a) || !(second instanceof Number b)) {
        return NO_NUMBER;
      }
      if (a instanceof Double || b instanceof Double) {
        double x = a.doubleValue();
        double y = b.doubleValue();
        return operator == '+' ? x + y : operator == '-' ? x - y : operator == '*' ? x * y : x / y;
      }
      if (a instanceof Float || b instanceof Float) {
        float x = a.floatValue();
        float y = b.floatValue();
        return operator == '+' ? x + y : operator == '-' ? x - y : operator == '*' ? x * y : x / y;
      }
      if (operator == '/' && b.longValue() == 0) {
        return null;
      }
      if (a instanceof Long || b instanceof Long) {
        long x = a.longValue();
        long y = b.longValue();
        return operator == '+' ? x + y : operator == '-' ? x - y : operator == '*' ? x * y : x / y;
      }
      int x = a.intValue();
      int y = b.intValue();
      return operator == '+' ? x + y : operator == '-' ? x - y : operator == '*' ? x * y : x / y;
    }

    @Override
    public int level() {
      return operator == '+' || operator == '-' ? 6 : 7;
    }

    @Override
    public String print(Printer printer) {
      String space = printer.random.nextBoolean() ? printer.space() : "";
      return left.print(printer, level())
          + space
          + operator
          + printer.space()
          + right.print(printer, level() + 1);
    }
  }

  // ---- conditions ----

  static @Nullable Boolean compare(
      String relation, @Nullable Object first, @Nullable Object second) {
    if (first == null || second == null) {
      return null;
    }
    if (first instanceof Number a && second instanceof Number b) {
      Boolean less;
      boolean same;
      if (a instanceof Double || b instanceof Double) {
        less = a.doubleValue() < b.doubleValue();
        same = a.doubleValue() == b.doubleValue();
        if (Double.isNaN(a.doubleValue()) || Double.isNaN(b.doubleValue())) {
          return relation.equals("<>");
        }
      } else if (a instanceof Float || b instanceof Float) {
        less = a.floatValue() < b.floatValue();
        same = a.floatValue() == b.floatValue();
        if (Float.isNaN(a.floatValue()) || Float.isNaN(b.floatValue())) {
          return relation.equals("<>");
        }
      } else {
        less = a.longValue() < b.longValue();
        same = a.longValue() == b.longValue();
      }
      return switch (relation) {
        case "=" -> same;
        case "<>" -> !same;
        case "<" -> less;
        case "<=" -> less || same;
        case ">" -> !less && !same;
        default -> !less;
      };
    }
    boolean alike =
        (first instanceof String && second instanceof String)
            || (first instanceof Boolean && second instanceof Boolean);
    return switch (relation) {
      case "=" -> alike && first.equals(second);
      case "<>" -> alike && !first.equals(second);
      default -> false;
    };
  }

  static @Nullable Boolean not(@Nullable Boolean value) {
    return value == null ? null : !value;
  }

  static @Nullable Boolean and(@Nullable Boolean a, @Nullable Boolean b) {
    if (Boolean.FALSE.equals(a) || Boolean.FALSE.equals(b)) {
      return false;
    }
    return a == null || b == null ? null : Boolean.TRUE;
  }

  static @Nullable Boolean or(@Nullable Boolean a, @Nullable Boolean b) {
    return not(and(not(a), not(b)));
  }

  record Constant(boolean of) implements Condition {
    @Override
    public Boolean test(Map<String, @Nullable Object> message) {
      return of;
    }

    @Override
    public int level() {
      return 9;
    }

    @Override
    public String print(Printer printer) {
      return printer.word(of ? "TRUE" : "FALSE");
    }
  }

  record Relation(String relation, Value left, Value right) implements Condition {
    @Override
    public @Nullable Boolean test(Map<String, @Nullable Object> message) {
      return compare(relation, left.value(message), right.value(message));
    }

    @Override
    public int level() {
      return 4;
    }

    @Override
    public String print(Printer printer) {
      return left.print(printer, 5) + relation + printer.space() + right.print(printer, 5);
    }
  }

  record Between(Value of, Value low, Value high, boolean not) implements Condition {
    @Override
    public @Nullable Boolean test(Map<String, @Nullable Object> message) {
      Object value = of.value(message);
      return not
          ? or(compare("<", value, low.value(message)), compare(">", value, high.value(message)))
          : and(
              compare(">=", value, low.value(message)), compare("<=", value, high.value(message)));
    }

    @Override
    public int level() {
      return 4;
    }

    @Override
    public String print(Printer printer) {
      return of.print(printer, 5)
          + (not ? printer.word("NOT") : "")
          + printer.word("BETWEEN")
          + low.print(printer, 5)
          + printer.word("AND")
          + high.print(printer, 5);
    }
  }

  record In(Name of, List<String> strings, boolean not) implements Condition {
    @Override
    public @Nullable Boolean test(Map<String, @Nullable Object> message) {
      Object value = of.value(message);
      if (value == null) {
        return null;
      }
      return value instanceof String && strings.contains(value) != not;
    }

    @Override
    public int level() {
      return 4;
    }

    @Override
    public String print(Printer printer) {
      StringJoiner list = new StringJoiner("," + printer.space(), "(", ")");
      strings.forEach(each -> list.add(Printer.string(each)));
      return of.print(printer, 5) + (not ? printer.word("NOT") : "") + printer.word("IN") + list;
    }
  }

  /**
   * LIKE.
   *
   * @param parts a character each; {@code null} for %, the empty string for _
   * @param escape for the text; escapes more than it must
   */
  record Like(Name of, List<@Nullable String> parts, @Nullable Character escape, boolean not)
      implements Condition {
    @Override
    public @Nullable Boolean test(Map<String, @Nullable Object> message) {
      Object value = of.value(message);
      if (value == null) {
        return null;
      }
      StringBuilder regex = new StringBuilder();
      for (String part : parts) {
        regex.append(part == null ? ".*" : part.isEmpty() ? "." : Pattern.quote(part));
      }
      return value instanceof String text
          && Pattern.compile(regex.toString(), Pattern.DOTALL).matcher(text).matches() != not;
    }

    @Override
    public int level() {
      return 4;
    }

    @Override
    public String print(Printer printer) {
      StringBuilder pattern = new StringBuilder();
      for (String part : parts) {
        if (part == null) {
          pattern.append('%');
        } else if (part.isEmpty()) {
          pattern.append('_');
        } else {
          boolean special = part.equals("%") || part.equals("_");
          if (escape != null
              && (special || part.equals(escape.toString()) || printer.random.nextInt(5) == 0)) {
            pattern.append(escape);
          }
          pattern.append(part);
        }
      }
      String text =
          of.print(printer, 5)
              + (not ? printer.word("NOT") : "")
              + printer.word("LIKE")
              + Printer.string(pattern.toString());
      return escape == null
          ? text
          : text + printer.word("ESCAPE") + Printer.string(escape.toString());
    }
  }

  record Null(Name of, boolean not) implements Condition {
    @Override
    public Boolean test(Map<String, @Nullable Object> message) {
      return (of.value(message) == null) != not;
    }

    @Override
    public int level() {
      return 4;
    }

    @Override
    public String print(Printer printer) {
      return of.print(printer, 5)
          + printer.word("IS")
          + (not ? printer.word("NOT") : "")
          + printer.word("NULL");
    }
  }

  record Not(Condition of) implements Condition {
    @Override
    public @Nullable Boolean test(Map<String, @Nullable Object> message) {
      return not(of.test(message));
    }

    @Override
    public int level() {
      return 3;
    }

    @Override
    public String print(Printer printer) {
      return printer.word("NOT") + of.print(printer, 3);
    }
  }

  record Both(Condition left, Condition right) implements Condition {
    @Override
    public @Nullable Boolean test(Map<String, @Nullable Object> message) {
      return and(left.test(message), right.test(message));
    }

    @Override
    public int level() {
      return 2;
    }

    @Override
    public String print(Printer printer) {
      return left.print(printer, 2) + printer.word("AND") + right.print(printer, 2);
    }
  }

  record Either(Condition left, Condition right) implements Condition {
    @Override
    public @Nullable Boolean test(Map<String, @Nullable Object> message) {
      return or(left.test(message), right.test(message));
    }

    @Override
    public int level() {
      return 1;
    }

    @Override
    public String print(Printer printer) {
      return left.print(printer, 1) + printer.word("OR") + right.print(printer, 1);
    }
  }

  private TreeOracle() {}
}
