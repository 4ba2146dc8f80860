package io.lightmq.client.message;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.JMSException;
import jakarta.jms.MessageFormatException;
import org.jspecify.annotations.Nullable;

/** The conversions between the types of properties and body values, table 3-4 of the JMS text. */
final class Values {
  private Values() {}

  /** The value, if a property may have its type. */
  static @Nullable Object checkProperty(String name, @Nullable Object value) throws JMSException {
    if (value == null
        || value instanceof Boolean
        || value instanceof Byte
        || value instanceof Short
        || value instanceof Integer
        || value instanceof Long
        || value instanceof Float
        || value instanceof Double
        || value instanceof String) {
      return value;
    }
    throw JmsFaults.format(
        "property "
            + name
            + " cannot be a "
            + value.getClass().getName()
            + "; use a boxed type or String");
  }

  /** The value, or a copy, if a map or stream body may have its type. */
  static @Nullable Object checkBody(@Nullable Object value) throws JMSException {
    if (value instanceof byte[] bytes) {
      return bytes.clone();
    }
    if (value instanceof Character) {
      return value;
    }
    return checkProperty("value", value);
  }

  static boolean toBoolean(@Nullable Object value) throws MessageFormatException {
    if (value == null) {
      return false;
    }
    if (value instanceof Boolean bool) {
      return bool;
    }
    return Boolean.parseBoolean(text(value, "boolean"));
  }

  static byte toByte(@Nullable Object value) throws MessageFormatException {
    if (value instanceof Byte number) {
      return number;
    }
    return Byte.parseByte(text(value, "byte"));
  }

  static short toShort(@Nullable Object value) throws MessageFormatException {
    if (value instanceof Short || value instanceof Byte) {
      return ((Number) value).shortValue();
    }
    return Short.parseShort(text(value, "short"));
  }

  static char toChar(@Nullable Object value) throws MessageFormatException {
    if (value instanceof Character character) {
      return character;
    }
    if (value == null) {
      throw new NullPointerException("a null value is no char");
    }
    throw mismatch(value, "char");
  }

  static int toInt(@Nullable Object value) throws MessageFormatException {
    if (value instanceof Integer || value instanceof Short || value instanceof Byte) {
      return ((Number) value).intValue();
    }
    return Integer.parseInt(text(value, "int"));
  }

  static long toLong(@Nullable Object value) throws MessageFormatException {
    if (value instanceof Long
        || value instanceof Integer
        || value instanceof Short
        || value instanceof Byte) {
      return ((Number) value).longValue();
    }
    return Long.parseLong(text(value, "long"));
  }

  static float toFloat(@Nullable Object value) throws MessageFormatException {
    if (value instanceof Float number) {
      return number;
    }
    if (value == null) {
      throw new NullPointerException("a null value is no float");
    }
    return Float.parseFloat(text(value, "float"));
  }

  static double toDouble(@Nullable Object value) throws MessageFormatException {
    if (value instanceof Double || value instanceof Float) {
      return ((Number) value).doubleValue();
    }
    if (value == null) {
      throw new NullPointerException("a null value is no double");
    }
    return Double.parseDouble(text(value, "double"));
  }

  static @Nullable String toText(@Nullable Object value) throws MessageFormatException {
    if (value instanceof byte[]) {
      throw mismatch(value, "String");
    }
    return value == null ? null : value.toString();
  }

  static byte @Nullable [] toBytes(@Nullable Object value) throws MessageFormatException {
    if (value == null) {
      return null;
    }
    if (value instanceof byte[] bytes) {
      return bytes.clone();
    }
    throw mismatch(value, "byte[]");
  }

  /** The string to parse; null gives what {@code valueOf(null)} gives, a NumberFormatException. */
  private static String text(@Nullable Object value, String wanted) throws MessageFormatException {
    if (value instanceof String text) {
      return text;
    }
    if (value == null) {
      throw new NumberFormatException("a null value is no " + wanted);
    }
    throw mismatch(value, wanted);
  }

  private static MessageFormatException mismatch(Object value, String wanted) {
    return JmsFaults.format(
        "a value of type " + value.getClass().getSimpleName() + " cannot be read as " + wanted);
  }
}
