package io.lightmq.core.selector;

import org.jspecify.annotations.Nullable;

/** Cuts a selector into tokens; {@link #next} moves to the next one. */
final class Lexer {
  /** What a token is. */
  enum Type {
    END,
    WORD,
    IDENTIFIER,
    STRING,
    NUMBER,
    OPERATOR
  }

  private final String text;
  private int at;

  private Type type = Type.END;
  private int start;
  private String content = "";
  private @Nullable Word word;

  /** Begins before the first token. */
  Lexer(String text) {
    this.text = text;
  }

  /** The current token's type. */
  Type type() {
    return type;
  }

  /** Where the current token begins, from 1. */
  int column() {
    return start + 1;
  }

  /** An identifier, an operator, a number as written, or a string without its quotes. */
  String content() {
    return content;
  }

  boolean is(Word wanted) {
    return type == Type.WORD && word == wanted;
  }

  boolean isOperator(String wanted) {
    return type == Type.OPERATOR && content.equals(wanted);
  }

  /** The current token as an error shows it. */
  String describe() {
    return switch (type) {
      case END -> "the end";
      case STRING -> "the string '" + shortened(content) + "'";
      case NUMBER -> "the number " + shortened(content);
      case WORD, IDENTIFIER, OPERATOR -> "\"" + shortened(content) + "\"";
    };
  }

  static String shortened(String text) {
    return text.length() <= 40 ? text : text.substring(0, 40) + "…";
  }

  /** Moves to the next token. */
  void next() throws InvalidSelectorException {
    while (at < text.length() && isSpace(text.charAt(at))) {
      at++;
    }
    start = at;
    if (at == text.length()) {
      type = Type.END;
      content = "";
      return;
    }
    int point = text.codePointAt(at);
    if (Character.isJavaIdentifierStart(point)) {
      name();
    } else if (point == '\'') {
      string();
    } else if (isDigit(point)
        || (point == '.' && at + 1 < text.length() && isDigit(text.charAt(at + 1)))) {
      number();
    } else {
      operator(point);
    }
  }

  private static boolean isSpace(char c) {
    return c == ' ' || c == '\t' || c == '\f' || c == '\r' || c == '\n';
  }

  private static boolean isDigit(int point) {
    return point >= '0' && point <= '9';
  }

  private void name() {
    while (at < text.length() && Character.isJavaIdentifierPart(text.codePointAt(at))) {
      at += Character.charCount(text.codePointAt(at));
    }
    content = text.substring(start, at);
    word = Word.of(content);
    type = word == null ? Type.IDENTIFIER : Type.WORD;
  }

  private void string() throws InvalidSelectorException {
    StringBuilder value = new StringBuilder();
    int from = start + 1;
    while (true) {
      int quote = text.indexOf('\'', from);
      if (quote < 0) {
        throw new InvalidSelectorException(
            column(), "the string that begins here has no closing quote");
      }
      value.append(text, from, quote);
      from = quote + 1;
      if (from == text.length() || text.charAt(from) != '\'') {
        break;
      }
      value.append('\'');
      from++;
    }
    at = from;
    content = value.toString();
    type = Type.STRING;
  }

  /** All that could belong to a number, so that what is none is refused as a whole. */
  private void number() {
    boolean hexadecimal = text.regionMatches(true, at, "0x", 0, 2);
    char exponent = hexadecimal ? 'p' : 'e';
    while (at < text.length()) {
      char c = text.charAt(at);
      boolean sign =
          (c == '+' || c == '-')
              && at > start
              && Character.toLowerCase(text.charAt(at - 1)) == exponent;
      if (c != '.' && !sign && !Character.isJavaIdentifierPart(c)) {
        break;
      }
      at++;
    }
    content = text.substring(start, at);
    type = Type.NUMBER;
  }

  private void operator(int point) throws InvalidSelectorException {
    int length = 1;
    if (point == '<' && at + 1 < text.length() && ">=".indexOf(text.charAt(at + 1)) >= 0) {
      length = 2;
    } else if (point == '>' && at + 1 < text.length() && text.charAt(at + 1) == '=') {
      length = 2;
    } else if ("=<>+-*/(),".indexOf(point) < 0) {
      throw new InvalidSelectorException(column(), unknown(point));
    }
    at += length;
    content = text.substring(start, at);
    type = Type.OPERATOR;
  }

  private static String unknown(int point) {
    return switch (point) {
      case '"' -> "strings stand in single quotes, not in double ones";
      case '!' -> "\"!\" is no operator; unequal is <>";
      case '%' -> "\"%\" is no operator; there are + - * /";
      default ->
          "the character \""
              + Character.toString(point)
              + "\" cannot stand here; expected an identifier, a literal or an operator";
    };
  }
}
