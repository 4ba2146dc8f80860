package io.lightmq.core.selector;

import java.util.List;

/**
 * A node of a parsed selector. Two selectors that differ only in white space, the case of reserved
 * words, needless parentheses or the way a number is written have equal trees.
 */
sealed interface Expr {

  /** Something that holds for a message, does not, or is unknown. */
  sealed interface Condition extends Expr {
    Truth test(Row row);
  }

  /** Something that has a value. */
  sealed interface Value extends Expr {
    /** Loads the value; may use no other register of the row. */
    void load(Row row, Operand into);
  }

  // ---- values ----

  /**
   * A header or property; as a condition, whether it is true: what is no boolean is not.
   *
   * @param slot of a property among those that the selector names
   */
  record Identifier(String name, Field field, int slot) implements Value, Condition {
    @Override
    public void load(Row row, Operand into) {
      row.load(field, slot, into);
    }

    @Override
    public Truth test(Row row) {
      row.load(field, slot, row.left);
      if (row.left.kind == Kind.NULL) {
        return Truth.UNKNOWN;
      }
      return Truth.of(row.left.kind == Kind.BOOLEAN && row.left.exact == 1);
    }
  }

  /** TRUE or FALSE. */
  record BooleanLiteral(boolean value) implements Value, Condition {
    @Override
    public void load(Row row, Operand into) {
      into.exact(Kind.BOOLEAN, value ? 1 : 0);
    }

    @Override
    public Truth test(Row row) {
      return Truth.of(value);
    }
  }

  /** An exact number: INT if it fits and has no suffix, else LONG. */
  record ExactLiteral(Kind kind, long value) implements Value {
    @Override
    public void load(Row row, Operand into) {
      into.exact(kind, value);
    }
  }

  /** An approximate number, FLOAT or DOUBLE. */
  record ApproximateLiteral(Kind kind, double value) implements Value {
    @Override
    public void load(Row row, Operand into) {
      into.approximate(kind, value);
    }
  }

  /** A string, kept as messages hold it. */
  record StringLiteral(String string, Text text) implements Value {
    @Override
    public void load(Row row, Operand into) {
      into.text(text.bytes(), 0, text.length());
    }
  }

  /** Unary minus. */
  record Negation(Value of) implements Value {
    @Override
    public void load(Row row, Operand into) {
      of.load(row, into);
      switch (into.kind) {
        case INT, LONG -> into.exact(into.kind, -into.exact);
        case FLOAT, DOUBLE -> into.approximate = -into.approximate;
        case BOOLEAN, STRING -> into.none(Kind.NO_NUMBER);
        case NULL, NO_NUMBER -> {}
      }
    }
  }

  /** What arithmetic can do. */
  enum Operator {
    PLUS,
    MINUS,
    TIMES,
    DIVIDE
  }

  /** Arithmetic after binary numeric promotion as in Java; overflow wraps as in Java. */
  record Arithmetic(Operator operator, Value left, Value right) implements Value {
    @Override
    public void load(Row row, Operand into) {
      left.load(row, into);
      Kind kind = into.kind;
      long exact = into.exact;
      double approximate = into.approximate;
      right.load(row, into);
      if (kind == Kind.NULL || into.kind == Kind.NULL) {
        into.none(Kind.NULL);
      } else if (!kind.isNumber() || !into.kind.isNumber()) {
        into.none(Kind.NO_NUMBER);
      } else {
        calculate(kind, exact, approximate, into);
      }
    }

    private void calculate(Kind kind, long exact, double approximate, Operand into) {
      Kind promoted = Kind.promote(kind, into.kind);
      switch (promoted) {
        case DOUBLE -> {
          double first = kind.isExact() ? exact : approximate;
          into.approximate(promoted, calculate(first, into.asDouble()));
        }
        case FLOAT -> {
          float first = kind.isExact() ? exact : (float) approximate;
          into.approximate(promoted, calculate(first, into.asFloat()));
        }
        default -> {
          if (operator == Operator.DIVIDE && into.exact == 0) {
            into.none(Kind.NULL);
          } else {
            into.exact(promoted, calculate(exact, into.exact));
          }
        }
      }
    }

    /** Of 64 bits: those of an INT are the lower half, since no operation moves bits down. */
    private long calculate(long first, long second) {
      return switch (operator) {
        case PLUS -> first + second;
        case MINUS -> first - second;
        case TIMES -> first * second;
        case DIVIDE -> first / second;
      };
    }

    private float calculate(float first, float second) {
      return switch (operator) {
        case PLUS -> first + second;
        case MINUS -> first - second;
        case TIMES -> first * second;
        case DIVIDE -> first / second;
      };
    }

    private double calculate(double first, double second) {
      return switch (operator) {
        case PLUS -> first + second;
        case MINUS -> first - second;
        case TIMES -> first * second;
        case DIVIDE -> first / second;
      };
    }
  }

  // ---- conditions ----

  /** NOT. */
  record Not(Condition of) implements Condition {
    @Override
    public Truth test(Row row) {
      return of.test(row).not();
    }
  }

  /** Two or more conditions joined by AND. */
  record And(List<Condition> all) implements Condition {
    @Override
    public Truth test(Row row) {
      Truth truth = Truth.TRUE;
      for (int i = 0; i < all.size() && truth != Truth.FALSE; i++) {
        truth = truth.and(all.get(i).test(row));
      }
      return truth;
    }
  }

  /** Two or more conditions joined by OR. */
  record Or(List<Condition> any) implements Condition {
    @Override
    public Truth test(Row row) {
      Truth truth = Truth.FALSE;
      for (int i = 0; i < any.size() && truth != Truth.TRUE; i++) {
        truth = truth.or(any.get(i).test(row));
      }
      return truth;
    }
  }

  /** How two values are compared. */
  enum Relation {
    EQUAL,
    UNEQUAL,
    LESS,
    AT_MOST,
    GREATER,
    AT_LEAST
  }

  /** A comparison: unknown with NULL, false between unlike values, whatever the relation. */
  record Comparison(Relation relation, Value first, Value second) implements Condition {
    @Override
    public Truth test(Row row) {
      first.load(row, row.left);
      second.load(row, row.right);
      return compare(relation, row.left, row.right);
    }

    static Truth compare(Relation relation, Operand left, Operand right) {
      if (left.kind == Kind.NULL || right.kind == Kind.NULL) {
        return Truth.UNKNOWN;
      }
      if (left.kind.isNumber() && right.kind.isNumber()) {
        return Truth.of(numbers(relation, left, right));
      }
      if (left.kind != right.kind || left.kind == Kind.NO_NUMBER) {
        return Truth.FALSE;
      }
      boolean same = left.kind == Kind.STRING ? left.sameText(right) : left.exact == right.exact;
      return switch (relation) {
        case EQUAL -> Truth.of(same);
        case UNEQUAL -> Truth.of(!same);
        default -> Truth.FALSE;
      };
    }

    private static boolean numbers(Relation relation, Operand left, Operand right) {
      return switch (Kind.promote(left.kind, right.kind)) {
        case DOUBLE -> holds(relation, left.asDouble(), right.asDouble());
        case FLOAT -> holds(relation, left.asFloat(), right.asFloat());
        default -> holds(relation, left.exact, right.exact);
      };
    }

    private static boolean holds(Relation relation, long left, long right) {
      return switch (relation) {
        case EQUAL -> left == right;
        case UNEQUAL -> left != right;
        case LESS -> left < right;
        case AT_MOST -> left <= right;
        case GREATER -> left > right;
        case AT_LEAST -> left >= right;
      };
    }

    private static boolean holds(Relation relation, double left, double right) {
      return switch (relation) {
        case EQUAL -> left == right;
        case UNEQUAL -> left != right;
        case LESS -> left < right;
        case AT_MOST -> left <= right;
        case GREATER -> left > right;
        case AT_LEAST -> left >= right;
      };
    }
  }

  /**
   * BETWEEN: {@code value >= low AND value <= high}; negated {@code value < low OR value > high},
   * so that both are false for what is no number.
   */
  record Between(Value value, Value low, Value high, boolean negated) implements Condition {
    @Override
    public Truth test(Row row) {
      value.load(row, row.left);
      low.load(row, row.right);
      Truth first =
          Comparison.compare(negated ? Relation.LESS : Relation.AT_LEAST, row.left, row.right);
      high.load(row, row.right);
      Truth second =
          Comparison.compare(negated ? Relation.GREATER : Relation.AT_MOST, row.left, row.right);
      return negated ? first.or(second) : first.and(second);
    }
  }

  /**
   * IN: equal to one of some strings; IN and NOT IN are false for what is no string.
   *
   * @param strings each once, rising, so that no list makes looking for one slow
   */
  record In(Identifier value, List<Text> strings, boolean negated) implements Condition {
    @Override
    public Truth test(Row row) {
      value.load(row, row.left);
      if (row.left.kind == Kind.NULL) {
        return Truth.UNKNOWN;
      }
      return Truth.of(row.left.kind == Kind.STRING && isOneOf(row.left) != negated);
    }

    private boolean isOneOf(Operand text) {
      int low = 0;
      int high = strings.size() - 1;
      while (low <= high) {
        int mid = (low + high) >>> 1;
        int order = strings.get(mid).compareTo(text.text, text.textAt, text.textBytes);
        if (order == 0) {
          return true;
        }
        low = order < 0 ? mid + 1 : low;
        high = order < 0 ? high : mid - 1;
      }
      return false;
    }
  }

  /** LIKE; LIKE and NOT LIKE are false for what is no string. */
  record Like(Identifier value, Pattern pattern, boolean negated) implements Condition {
    @Override
    public Truth test(Row row) {
      value.load(row, row.left);
      Operand text = row.left;
      if (text.kind == Kind.NULL) {
        return Truth.UNKNOWN;
      }
      return Truth.of(
          text.kind == Kind.STRING
              && pattern.matches(text.text, text.textAt, text.textBytes) != negated);
    }
  }

  /** IS NULL, IS NOT NULL. */
  record IsNull(Identifier value, boolean negated) implements Condition {
    @Override
    public Truth test(Row row) {
      value.load(row, row.left);
      return Truth.of((row.left.kind == Kind.NULL) != negated);
    }
  }
}
