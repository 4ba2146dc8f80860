package io.lightmq.core.selector;

import io.lightmq.core.selector.Expr.And;
import io.lightmq.core.selector.Expr.ApproximateLiteral;
import io.lightmq.core.selector.Expr.Arithmetic;
import io.lightmq.core.selector.Expr.Between;
import io.lightmq.core.selector.Expr.BooleanLiteral;
import io.lightmq.core.selector.Expr.Comparison;
import io.lightmq.core.selector.Expr.Condition;
import io.lightmq.core.selector.Expr.ExactLiteral;
import io.lightmq.core.selector.Expr.Identifier;
import io.lightmq.core.selector.Expr.In;
import io.lightmq.core.selector.Expr.IsNull;
import io.lightmq.core.selector.Expr.Like;
import io.lightmq.core.selector.Expr.Negation;
import io.lightmq.core.selector.Expr.Not;
import io.lightmq.core.selector.Expr.Operator;
import io.lightmq.core.selector.Expr.Or;
import io.lightmq.core.selector.Expr.Relation;
import io.lightmq.core.selector.Expr.StringLiteral;
import io.lightmq.core.selector.Expr.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Recursive descent over the grammar of section 3.8.1.1, one method for each level of precedence:
 *
 * <pre>
 * or        = and { OR and }
 * and       = not { AND not }
 * not       = NOT not | predicate
 * predicate = sum [ relation sum | [NOT] BETWEEN sum AND sum | [NOT] IN ( string {, string} )
 *                 | [NOT] LIKE string [ESCAPE string] | IS [NOT] NULL ]
 * sum       = product { (+ | -) product }
 * product   = unary { (* | /) unary }
 * unary     = (+ | -) unary | ( or ) | number | string | TRUE | FALSE | identifier
 * </pre>
 *
 * <p>Trees are at most {@link #MAX_DEPTH} deep, so that neither parsing nor evaluating can use up a
 * stack.
 */
final class Parser {
  static final int MAX_DEPTH = 500;

  /**
   * So many steps a character of a message's texts may take in all, see {@link Pattern#steps};
   * equality of two identifiers takes one. All other conditions read no more of the texts than the
   * selector has characters. A step takes some 2 to 12 ns.
   */
  static final int MAX_TEXT_STEPS = 32;

  private final Lexer lexer;
  private final Map<String, Identifier> identifiers = new HashMap<>();
  private final List<String> properties = new ArrayList<>();

  private int textSteps;

  /** How deep the parser is in brackets and signs. */
  private int nesting;

  /** How deep the tree is that the last method returned. */
  private int depth;

  Parser(String text) {
    lexer = new Lexer(text);
  }

  /** Parses all of it. */
  Condition parse() throws InvalidSelectorException {
    lexer.next();
    int column = lexer.column();
    Condition condition = condition(or(), column);
    if (lexer.type() != Lexer.Type.END) {
      throw expected("AND, OR or the end");
    }
    return condition;
  }

  /** The properties that the selector names, by slot. */
  List<String> properties() {
    return properties;
  }

  /** How often it searches the texts of a message. */
  int textSteps() {
    return textSteps;
  }

  // ---- conditions ----

  private Expr or() throws InvalidSelectorException {
    int column = lexer.column();
    Expr first = and();
    if (!lexer.is(Word.OR)) {
      return first;
    }
    List<Condition> any = new ArrayList<>();
    addOr(any, condition(first, column));
    int deepest = depth;
    while (lexer.is(Word.OR)) {
      lexer.next();
      column = lexer.column();
      addOr(any, condition(and(), column));
      deepest = Math.max(deepest, depth);
    }
    deepen(deepest, column);
    return new Or(List.copyOf(any));
  }

  private static void addOr(List<Condition> any, Condition more) {
    if (more instanceof Or or) {
      any.addAll(or.any());
    } else {
      any.add(more);
    }
  }

  private Expr and() throws InvalidSelectorException {
    int column = lexer.column();
    Expr first = not();
    if (!lexer.is(Word.AND)) {
      return first;
    }
    List<Condition> all = new ArrayList<>();
    addAnd(all, condition(first, column));
    int deepest = depth;
    while (lexer.is(Word.AND)) {
      lexer.next();
      column = lexer.column();
      addAnd(all, condition(not(), column));
      deepest = Math.max(deepest, depth);
    }
    deepen(deepest, column);
    return new And(List.copyOf(all));
  }

  private static void addAnd(List<Condition> all, Condition more) {
    if (more instanceof And and) {
      all.addAll(and.all());
    } else {
      all.add(more);
    }
  }

  private Expr not() throws InvalidSelectorException {
    if (!lexer.is(Word.NOT)) {
      return predicate();
    }
    int column = enter();
    lexer.next();
    int operandColumn = lexer.column();
    Condition of = condition(not(), operandColumn);
    leave(column);
    return new Not(of);
  }

  private Expr predicate() throws InvalidSelectorException {
    int column = lexer.column();
    Expr first = sum();
    Relation relation = relation();
    if (relation != null) {
      return comparison(relation, first, column);
    }
    boolean negated = lexer.is(Word.NOT);
    if (negated) {
      lexer.next();
    }
    if (lexer.is(Word.BETWEEN)) {
      return between(number(first, column, "BETWEEN"), negated);
    } else if (lexer.is(Word.IN)) {
      return in(identifier(first, column, "IN"), negated);
    } else if (lexer.is(Word.LIKE)) {
      return like(identifier(first, column, "LIKE"), negated);
    } else if (negated) {
      throw expected("BETWEEN, IN or LIKE");
    } else if (lexer.is(Word.IS)) {
      return is(identifier(first, column, "IS NULL"));
    }
    return first;
  }

  private @Nullable Relation relation() {
    if (lexer.type() != Lexer.Type.OPERATOR) {
      return null;
    }
    return switch (lexer.content()) {
      case "=" -> Relation.EQUAL;
      case "<>" -> Relation.UNEQUAL;
      case "<" -> Relation.LESS;
      case "<=" -> Relation.AT_MOST;
      case ">" -> Relation.GREATER;
      case ">=" -> Relation.AT_LEAST;
      default -> null;
    };
  }

  private Condition comparison(Relation relation, Expr left, int leftColumn)
      throws InvalidSelectorException {
    int before = depth;
    Value first = value(left, leftColumn);
    String sign = lexer.content();
    lexer.next();
    int column = lexer.column();
    Value second = value(sum(), column);
    if (relation != Relation.EQUAL && relation != Relation.UNEQUAL) {
      number(first, leftColumn, sign);
      number(second, column, sign);
    }
    if (relation() != null) {
      throw new InvalidSelectorException(
          lexer.column(), "a comparison cannot be compared; expected AND, OR or the end");
    }
    alike(first, second, column);
    deepen(Math.max(before, depth), column);
    if (first instanceof Identifier && second instanceof Identifier) {
      countTextSteps(1, leftColumn);
    }
    return new Comparison(relation, first, second);
  }

  private Condition between(Value value, boolean negated) throws InvalidSelectorException {
    int deepest = depth;
    lexer.next();
    int column = lexer.column();
    Value low = number(sum(), column, "BETWEEN");
    deepest = Math.max(deepest, depth);
    if (!lexer.is(Word.AND)) {
      throw expected("AND and the upper bound of BETWEEN");
    }
    lexer.next();
    column = lexer.column();
    Value high = number(sum(), column, "BETWEEN");
    deepen(Math.max(deepest, depth), column);
    return new Between(value, low, high, negated);
  }

  private Condition in(Identifier value, boolean negated) throws InvalidSelectorException {
    lexer.next();
    if (!lexer.isOperator("(")) {
      throw expected("\"(\" and strings");
    }
    Set<Text> strings = new TreeSet<>();
    do {
      lexer.next();
      strings.add(Text.of(string("a string, which is all that IN takes")));
    } while (lexer.isOperator(","));
    if (!lexer.isOperator(")")) {
      throw expected("\",\" or \")\"");
    }
    lexer.next();
    depth = 2;
    return new In(value, List.copyOf(strings), negated);
  }

  private Condition like(Identifier value, boolean negated) throws InvalidSelectorException {
    lexer.next();
    int column = lexer.column();
    String text = string("a string, the pattern");
    int escape = -1;
    if (lexer.is(Word.ESCAPE)) {
      lexer.next();
      int escapeColumn = lexer.column();
      String character = string("a string of one character");
      if (character.codePointCount(0, character.length()) != 1) {
        throw new InvalidSelectorException(
            escapeColumn,
            "ESCAPE takes a string of one character, this one has "
                + character.codePointCount(0, character.length()));
      }
      escape = character.codePointAt(0);
    }
    Pattern pattern;
    try {
      pattern = Pattern.parse(text, escape);
    } catch (IllegalArgumentException e) {
      throw new InvalidSelectorException(column, "the pattern ends with its escape character");
    }
    if (pattern.length() > Pattern.MAX_ELEMENTS) {
      throw new InvalidSelectorException(
          column,
          "a pattern has at most "
              + Pattern.MAX_ELEMENTS
              + " characters, this one has "
              + pattern.length());
    }
    countTextSteps(pattern.steps(), column);
    depth = 2;
    return new Like(value, pattern, negated);
  }

  private Condition is(Identifier value) throws InvalidSelectorException {
    lexer.next();
    boolean negated = lexer.is(Word.NOT);
    if (negated) {
      lexer.next();
    }
    if (!lexer.is(Word.NULL)) {
      throw expected(negated ? "NULL" : "NULL or NOT NULL");
    }
    lexer.next();
    depth = 2;
    return new IsNull(value, negated);
  }

  // ---- values ----

  private Expr sum() throws InvalidSelectorException {
    int column = lexer.column();
    Expr left = product();
    while (lexer.isOperator("+") || lexer.isOperator("-")) {
      Operator operator = lexer.isOperator("+") ? Operator.PLUS : Operator.MINUS;
      left = arithmetic(operator, left, column);
    }
    return left;
  }

  private Expr product() throws InvalidSelectorException {
    int column = lexer.column();
    Expr left = unary();
    while (lexer.isOperator("*") || lexer.isOperator("/")) {
      Operator operator = lexer.isOperator("*") ? Operator.TIMES : Operator.DIVIDE;
      left = arithmetic(operator, left, column);
    }
    return left;
  }

  private Value arithmetic(Operator operator, Expr left, int leftColumn)
      throws InvalidSelectorException {
    int before = depth;
    String sign = lexer.content();
    Value first = number(left, leftColumn, sign);
    lexer.next();
    int column = lexer.column();
    boolean product = operator == Operator.TIMES || operator == Operator.DIVIDE;
    Value second = number(product ? unary() : product(), column, sign);
    deepen(Math.max(before, depth), column);
    return new Arithmetic(operator, first, second);
  }

  private Expr unary() throws InvalidSelectorException {
    if (lexer.isOperator("+") || lexer.isOperator("-")) {
      String sign = lexer.content();
      int column = enter();
      lexer.next();
      int operandColumn = lexer.column();
      Value of;
      if (sign.equals("-") && lexer.type() == Lexer.Type.NUMBER) {
        of = Numbers.parse(lexer.content(), true, operandColumn);
        lexer.next();
        depth = 1;
      } else {
        of = number(unary(), operandColumn, sign);
        of = sign.equals("-") ? negated(of) : of;
      }
      leave(column);
      return of;
    }
    if (lexer.isOperator("(")) {
      int column = enter();
      lexer.next();
      Expr inner = or();
      if (!lexer.isOperator(")")) {
        throw expected("\")\"");
      }
      lexer.next();
      leave(column);
      return inner;
    }
    return primary();
  }

  /** Brackets around a literal change nothing, so they leave no trace in the tree. */
  private static Value negated(Value of) {
    if (of instanceof ExactLiteral literal) {
      long value = -literal.value();
      return new ExactLiteral(literal.kind(), literal.kind() == Kind.INT ? (int) value : value);
    }
    if (of instanceof ApproximateLiteral literal) {
      return new ApproximateLiteral(literal.kind(), -literal.value());
    }
    return new Negation(of);
  }

  private Expr primary() throws InvalidSelectorException {
    Expr found;
    int column = lexer.column();
    String content = lexer.content();
    if (lexer.type() == Lexer.Type.NUMBER) {
      found = Numbers.parse(content, false, column);
    } else if (lexer.type() == Lexer.Type.STRING) {
      found = new StringLiteral(content, Text.of(content));
    } else if (lexer.is(Word.TRUE) || lexer.is(Word.FALSE)) {
      found = new BooleanLiteral(lexer.is(Word.TRUE));
    } else if (lexer.type() == Lexer.Type.IDENTIFIER) {
      found = identifier(content);
    } else if (lexer.is(Word.NULL)) {
      throw new InvalidSelectorException(
          column, "NULL is no value; whether something is there says IS NULL or IS NOT NULL");
    } else {
      throw expected("an identifier, a literal or \"(\"");
    }
    lexer.next();
    depth = 1;
    return found;
  }

  private Identifier identifier(String name) throws InvalidSelectorException {
    Identifier known = identifiers.get(name);
    if (known != null) {
      return known;
    }
    Field field = Field.of(name);
    if (field == null) {
      throw new InvalidSelectorException(
          lexer.column(),
          name
              + " cannot be used; of the headers there are JMSDeliveryMode, JMSPriority,"
              + " JMSMessageID, JMSTimestamp, JMSCorrelationID and JMSType");
    }
    int slot = -1;
    if (field == Field.PROPERTY) {
      slot = properties.size();
      properties.add(name);
    }
    Identifier made = new Identifier(name, field, slot);
    identifiers.put(name, made);
    return made;
  }

  private String string(String what) throws InvalidSelectorException {
    if (lexer.type() != Lexer.Type.STRING) {
      throw expected(what);
    }
    String content = lexer.content();
    lexer.next();
    return content;
  }

  // ---- checks ----

  private static Condition condition(Expr found, int column) throws InvalidSelectorException {
    if (found instanceof Condition condition) {
      return condition;
    }
    throw new InvalidSelectorException(
        column, "a value alone is no condition; expected a comparison");
  }

  private static Value value(Expr found, int column) throws InvalidSelectorException {
    if (found instanceof Value value) {
      return value;
    }
    throw new InvalidSelectorException(
        column, "a condition cannot be compared or calculated with; expected a value");
  }

  private static Value number(Expr found, int column, String where)
      throws InvalidSelectorException {
    if (found instanceof StringLiteral || found instanceof BooleanLiteral) {
      throw new InvalidSelectorException(
          column,
          where
              + " takes numbers only; strings and booleans can be compared by = and <> and nothing"
              + " else");
    }
    return value(found, column);
  }

  /**
   * TRUE and FALSE are no names: what is compared with them is a boolean or may turn out as one.
   */
  private static void alike(Value first, Value second, int column) throws InvalidSelectorException {
    if ((first instanceof BooleanLiteral && isNoBoolean(second))
        || (second instanceof BooleanLiteral && isNoBoolean(first))) {
      throw new InvalidSelectorException(
          column, "TRUE and FALSE can only be compared with booleans and identifiers");
    }
  }

  private static boolean isNoBoolean(Value value) {
    return !(value instanceof BooleanLiteral || value instanceof Identifier);
  }

  private static Identifier identifier(Expr found, int column, String where)
      throws InvalidSelectorException {
    if (found instanceof Identifier identifier) {
      return identifier;
    }
    throw new InvalidSelectorException(column, "expected an identifier before " + where);
  }

  private InvalidSelectorException expected(String what) {
    return new InvalidSelectorException(
        lexer.column(), "expected " + what + ", found " + lexer.describe());
  }

  // ---- bounds ----

  private void countTextSteps(int steps, int column) throws InvalidSelectorException {
    textSteps += steps;
    if (textSteps > MAX_TEXT_STEPS) {
      throw new InvalidSelectorException(
          column,
          "a selector may search texts at most "
              + MAX_TEXT_STEPS
              + " times, this one does it "
              + textSteps
              + " times up to here: once for each LIKE with something between two %, with _ among"
              + " it once for each 64 characters, and for each comparison of two identifiers; use"
              + " several consumers, IN for equal strings, or patterns that begin or end without"
              + " %");
    }
  }

  private int enter() throws InvalidSelectorException {
    nesting++;
    check(nesting, lexer.column());
    return lexer.column();
  }

  private void leave(int column) throws InvalidSelectorException {
    nesting--;
    deepen(depth, column);
  }

  private void deepen(int below, int column) throws InvalidSelectorException {
    depth = below + 1;
    check(depth, column);
  }

  private static void check(int levels, int column) throws InvalidSelectorException {
    if (levels > MAX_DEPTH) {
      throw new InvalidSelectorException(
          column, "expressions within expressions go deeper than " + MAX_DEPTH + " levels");
    }
  }
}
