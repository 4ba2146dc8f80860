package io.lightmq.core.selector;

import io.lightmq.core.selector.Expr.And;
import io.lightmq.core.selector.Expr.Comparison;
import io.lightmq.core.selector.Expr.Condition;
import io.lightmq.core.selector.Expr.Identifier;
import io.lightmq.core.selector.Expr.Relation;
import io.lightmq.core.selector.Expr.StringLiteral;
import io.lightmq.core.selector.Expr.Value;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageScan;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message selector, parsed once: section 3.8 of the specification. Immutable; {@link #evaluator}
 * makes what looks at messages. Two selectors are equal if they say the same in other white space,
 * parentheses or spelling of numbers and reserved words.
 *
 * <p>Numbers are calculated with as in Java: exact literals without a suffix are ints if they fit,
 * else longs; an overflow wraps; a division of an exact number by zero is unknown. No property is
 * converted: a string is never equal to a number.
 */
public final class Selector {
  /** The longest text in characters. */
  public static final int MAX_CHARS = 64 * 1024;

  private static final int EVALUATION_STEPS = 16;

  /** The headers by whose equality messages can be found without evaluating. */
  public enum IdHeader {
    CORRELATION_ID,
    MESSAGE_ID
  }

  /**
   * That a header has to be equal to a string.
   *
   * @param only whether that is all that the selector asks for
   */
  public record IdEquality(IdHeader header, String id, boolean only) {}

  private final String text;
  private final Condition condition;
  private final List<byte[]> properties;
  private final int textSteps;
  private final @Nullable IdEquality idEquality;

  private Selector(String text, Condition condition, List<byte[]> properties, int textSteps) {
    this.text = text;
    this.condition = condition;
    this.properties = properties;
    this.textSteps = textSteps;
    this.idEquality = findIdEquality(condition);
  }

  /**
   * Parses a selector.
   *
   * @throws InvalidSelectorException with column and what was expected there
   */
  public static Selector parse(String text) throws InvalidSelectorException {
    if (text.length() > MAX_CHARS) {
      throw new InvalidSelectorException(
          MAX_CHARS + 1,
          "a selector has at most " + MAX_CHARS + " characters, this one has " + text.length());
    }
    Parser parser = new Parser(text);
    Condition condition = parser.parse();
    return new Selector(
        text,
        condition,
        parser.properties().stream().map(MessageScan::encode).toList(),
        parser.textSteps());
  }

  /** The selector's text with an empty one taken for none, as the specification does. */
  public static @Nullable String normalise(@Nullable String text) {
    return text == null || text.isBlank() ? null : text;
  }

  /** The text as it was given. */
  public String text() {
    return text;
  }

  /** What one evaluation costs, whatever the message. */
  long evaluationSteps() {
    return EVALUATION_STEPS + text.length() / 4L;
  }

  /**
   * What one byte of a message's headers and properties costs, in eighths of a step: one to walk
   * over it, and eight for each time that the selector searches it.
   */
  long byteEighths() {
    return 1 + 8L * textSteps;
  }

  /**
   * The steps that it takes at most to evaluate it on so many messages; one takes some 2 to 12 ns.
   *
   * @param selectableBytes of the headers and properties of all of them
   */
  public long steps(long messages, long selectableBytes) {
    return messages * evaluationSteps() + selectableBytes * byteEighths() / 8;
  }

  /** The bytes of headers and properties that it looks at in so many steps. */
  public long bytesFor(long steps) {
    return Math.max(0, steps - evaluationSteps()) * 8 / byteEighths();
  }

  /** No message of so many bytes takes more than {@link Work#SLICE} steps. */
  public long shortBytes() {
    return bytesFor(Work.SLICE);
  }

  /** That the message or correlation id has to be equal to a string, null if it need not. */
  public @Nullable IdEquality idEquality() {
    return idEquality;
  }

  private static @Nullable IdEquality findIdEquality(Condition condition) {
    if (condition instanceof Comparison comparison) {
      return idEquality(comparison, true);
    }
    if (condition instanceof And and) {
      for (Condition each : and.all()) {
        if (each instanceof Comparison comparison && idEquality(comparison, false) != null) {
          return idEquality(comparison, false);
        }
      }
    }
    return null;
  }

  private static @Nullable IdEquality idEquality(Comparison comparison, boolean only) {
    if (comparison.relation() != Relation.EQUAL) {
      return null;
    }
    IdEquality found = idEquality(comparison.first(), comparison.second(), only);
    return found != null ? found : idEquality(comparison.second(), comparison.first(), only);
  }

  private static @Nullable IdEquality idEquality(Value header, Value id, boolean only) {
    if (header instanceof Identifier identifier && id instanceof StringLiteral literal) {
      return switch (identifier.field()) {
        case CORRELATION_ID -> new IdEquality(IdHeader.CORRELATION_ID, literal.string(), only);
        case MESSAGE_ID -> new IdEquality(IdHeader.MESSAGE_ID, literal.string(), only);
        default -> null;
      };
    }
    return null;
  }

  /** What looks at messages for this selector, for one thread at a time. */
  public Evaluator evaluator() {
    return new Evaluator(this);
  }

  /** Looks at one message after the other, without garbage; see {@link Selector#evaluator}. */
  public static final class Evaluator {
    private final Selector selector;
    private final Row row;

    private Evaluator(Selector selector) {
      this.selector = selector;
      this.row = new Row(selector.properties);
    }

    /**
     * Whether an encoded message matches: the condition is true, neither false nor unknown. A
     * message that cannot be decoded as far as the selector has to look matches nothing.
     *
     * @param work whose it is; what it costs at most is counted there
     */
    public boolean matches(ByteBuffer buffer, int messageAt, int messageBytes, Work work) {
      try {
        row.open(buffer, messageAt, messageBytes);
        work.add(selector.steps(1, row.selectableBytes()));
        return selector.condition.test(row) == Truth.TRUE;
      } catch (MalformedMessageException e) {
        return false;
      }
    }

    /** Whether it takes more than {@link Work#SLICE} steps to look at a message. */
    public boolean isLong(ByteBuffer buffer, int messageAt, int messageBytes) {
      if (selector.steps(1, messageBytes) <= Work.SLICE) {
        return false;
      }
      try {
        row.open(buffer, messageAt, messageBytes);
        return selector.steps(1, row.selectableBytes()) > Work.SLICE;
      } catch (MalformedMessageException e) {
        return false;
      }
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Selector selector && condition.equals(selector.condition);
  }

  @Override
  public int hashCode() {
    return condition.hashCode();
  }

  @Override
  public String toString() {
    return text;
  }
}
