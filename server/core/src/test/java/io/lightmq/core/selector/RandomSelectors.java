package io.lightmq.core.selector;

import io.lightmq.core.selector.TreeOracle.Condition;
import io.lightmq.core.selector.TreeOracle.Name;
import io.lightmq.core.selector.TreeOracle.Value;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Random trees and messages, from few names and values so that they meet. */
final class RandomSelectors {
  private static final String[] PROPERTIES = {
    "a", "b", "A", "c_1", "$d", "\u00fcber", "JMSXGroupID"
  };
  private static final String[] HEADERS = {
    "JMSDeliveryMode", "JMSPriority", "JMSMessageID", "JMSTimestamp", "JMSCorrelationID", "JMSType"
  };
  private static final String[] CHARACTERS = {
    "a", "b", "%", "_", "!", "'", "\\", "\u00e9", "\u4e2d", "\uD83D\uDE00"
  };
  private static final int[] INTS = {
    0, 1, 2, 3, 4, 9, 7, -1, -2, 16777217, Integer.MAX_VALUE, Integer.MIN_VALUE
  };
  private static final long[] LONGS = {
    0, 1, 2, -1, 1L << 31, -(1L << 31), 9007199254740993L, Long.MAX_VALUE, Long.MIN_VALUE
  };
  private static final double[] DOUBLES = {0.0, -0.0, 1, 0.5, 0.1, -2, 1e18, 1e308, 16777216.0};
  private static final String[] IDS = {
    "ID:00000000000000010000000000000002:0",
    "ID:ffffffffffffffff8000000000000000:9223372036854775807"
  };

  private final Random random;

  RandomSelectors(Random random) {
    this.random = random;
  }

  Map<String, @Nullable Object> message() {
    Map<String, @Nullable Object> message = new LinkedHashMap<>();
    for (String name : PROPERTIES) {
      if (random.nextInt(4) > 0) {
        message.put(name, random.nextInt(8) == 0 ? null : property());
      }
    }
    if (random.nextBoolean()) {
      message.put("unused", property());
    }
    if (random.nextInt(3) == 0) {
      message.put("JMSDeliveryMode", "NON_PERSISTENT");
    }
    message.put("JMSPriority", random.nextInt(10));
    if (random.nextInt(3) > 0) {
      message.put("JMSTimestamp", LONGS[random.nextInt(LONGS.length)]);
    }
    if (random.nextInt(3) > 0) {
      message.put("JMSMessageID", IDS[random.nextInt(IDS.length)]);
    }
    if (random.nextInt(3) > 0) {
      message.put("JMSCorrelationID", string());
    }
    if (random.nextInt(3) > 0) {
      message.put("JMSType", string());
    }
    return message;
  }

  private Object property() {
    return switch (random.nextInt(9)) {
      case 0 -> random.nextBoolean();
      case 1 -> (byte) (random.nextInt(5) - 2);
      case 2 -> (short) (random.nextInt(5) - 2);
      case 3 -> (float) DOUBLES[random.nextInt(DOUBLES.length)];
      case 4 -> random.nextInt(8) == 0 ? Double.NaN : DOUBLES[random.nextInt(DOUBLES.length)];
      case 5 -> LONGS[random.nextInt(LONGS.length)];
      case 6 -> INTS[random.nextInt(INTS.length)];
      default -> string();
    };
  }

  private String string() {
    if (random.nextInt(20) == 0) {
      return random.nextBoolean() ? "PERSISTENT" : IDS[random.nextInt(IDS.length)];
    }
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(4); i > 0; i--) {
      text.append(CHARACTERS[random.nextInt(CHARACTERS.length)]);
    }
    return text.toString();
  }

  private Name name() {
    String[] from = random.nextInt(4) == 0 ? HEADERS : PROPERTIES;
    return new Name(from[random.nextInt(from.length)]);
  }

  private Value number(int depth) {
    int kind = random.nextInt(depth <= 0 ? 6 : 10);
    if (kind >= 7) {
      char operator = "+-*/".charAt(random.nextInt(4));
      return new TreeOracle.Calculation(operator, number(depth - 1), number(depth - 1));
    }
    return switch (kind) {
      case 0 -> new TreeOracle.Literal(INTS[random.nextInt(INTS.length)]);
      case 1 -> new TreeOracle.Literal(LONGS[random.nextInt(LONGS.length)]);
      case 2 -> new TreeOracle.Literal(DOUBLES[random.nextInt(DOUBLES.length)]);
      case 3 -> new TreeOracle.Literal((float) (DOUBLES[random.nextInt(7)]));
      case 6 -> new TreeOracle.Negative(number(depth - 1));
      default -> name();
    };
  }

  private Value any(int depth) {
    return switch (random.nextInt(5)) {
      case 0 -> new TreeOracle.Literal(string());
      case 1 -> new TreeOracle.Literal(random.nextBoolean());
      case 2 -> name();
      default -> number(depth);
    };
  }

  Condition condition(int depth) {
    boolean not = random.nextBoolean();
    int kind = random.nextInt(depth <= 0 ? 9 : 15);
    if (kind >= 13) {
      return new TreeOracle.Not(condition(depth - 1));
    } else if (kind >= 9) {
      Condition left = condition(depth - 1);
      Condition right = condition(depth - 1);
      return kind < 11 ? new TreeOracle.Both(left, right) : new TreeOracle.Either(left, right);
    }
    return switch (kind) {
      case 0 -> random.nextInt(4) == 0 ? new TreeOracle.Constant(not) : name();
      case 1 -> new TreeOracle.Null(name(), not);
      case 2 -> new TreeOracle.In(name(), strings(), not);
      case 3, 4 -> like(not);
      case 5 -> new TreeOracle.Between(number(1), number(1), number(1), not);
      case 6 -> equality(not ? "=" : "<>", any(2), any(2));
      default -> {
        String[] relations = {"=", "<>", "<", "<=", ">", ">="};
        yield new TreeOracle.Relation(relations[random.nextInt(6)], number(2), number(2));
      }
    };
  }

  /** With TRUE and FALSE only what is or may be a boolean can be compared. */
  private Condition equality(String relation, Value left, Value right) {
    return isBoolean(left) == isBoolean(right)
        ? new TreeOracle.Relation(relation, left, right)
        : new TreeOracle.Relation(
            relation, isBoolean(left) ? left : name(), isBoolean(right) ? right : name());
  }

  private static boolean isBoolean(Value value) {
    return value instanceof TreeOracle.Literal literal && literal.of() instanceof Boolean;
  }

  private List<String> strings() {
    List<String> strings = new ArrayList<>();
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      strings.add(string());
    }
    return strings;
  }

  private Condition like(boolean not) {
    boolean escaped = random.nextBoolean();
    List<@Nullable String> parts = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      int kind = random.nextInt(5);
      String character = CHARACTERS[random.nextInt(CHARACTERS.length)];
      boolean special = character.equals("%") || character.equals("_");
      if (kind == 0) {
        parts.add(null);
      } else if (kind == 1) {
        parts.add("");
      } else if (escaped || !special) {
        parts.add(character);
      }
    }
    Character escape = escaped ? "!\\'a".charAt(random.nextInt(4)) : null;
    return new TreeOracle.Like(name(), parts, escape, not);
  }
}
