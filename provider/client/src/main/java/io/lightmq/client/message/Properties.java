package io.lightmq.client.message;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.JMSException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Typed properties by name: those of a message, or those that a JMSProducer puts on messages. */
public final class Properties {
  /** The delivery count, set by the broker; what an application sets is not sent. */
  public static final String DELIVERY_COUNT = "JMSXDeliveryCount";

  /** Only in this spelling: applications have properties named {@code true} or {@code in}. */
  private static final Set<String> RESERVED =
      Set.of("NULL", "TRUE", "FALSE", "NOT", "AND", "OR", "BETWEEN", "LIKE", "IN", "IS", "ESCAPE");

  private final Map<String, @Nullable Object> values;

  public Properties() {
    this(new LinkedHashMap<>());
  }

  Properties(Map<String, @Nullable Object> values) {
    this.values = values;
  }

  /** All of them, not to be changed. */
  public Map<String, @Nullable Object> values() {
    return Collections.unmodifiableMap(values);
  }

  /** Removes all. */
  public void clear() {
    values.clear();
  }

  /** Whether it is set. */
  public boolean contains(String name) {
    return values.containsKey(name);
  }

  /** The value as it was set; null if it is not set. */
  public @Nullable Object get(String name) {
    return values.get(name);
  }

  /**
   * Sets a property.
   *
   * @throws IllegalArgumentException if the name is null or empty
   * @throws jakarta.jms.MessageFormatException if a property cannot have the value's type
   */
  public void set(@Nullable String name, @Nullable Object value) throws JMSException {
    String checked = checkName(name);
    values.put(checked, Values.checkProperty(checked, value));
  }

  /** Takes over what the broker says. */
  void put(String name, Object value) {
    values.put(name, value);
  }

  void remove(String name) {
    values.remove(name);
  }

  void removeIf(Predicate<String> unwanted) {
    values.keySet().removeIf(unwanted);
  }

  static String checkName(@Nullable String name) throws JMSException {
    if (name == null || name.isEmpty()) {
      throw new IllegalArgumentException("a property name has at least one character");
    }
    boolean identifier = Character.isJavaIdentifierStart(name.charAt(0));
    for (int i = 1; identifier && i < name.length(); i++) {
      identifier = Character.isJavaIdentifierPart(name.charAt(i));
    }
    if (!identifier) {
      throw JmsFaults.invalidArgument(
          "the property name '" + name + "' is not an identifier (letters, digits, _ and $)");
    }
    if (RESERVED.contains(name)) {
      throw JmsFaults.invalidArgument(
          "the property name '" + name + "' is a reserved word of selectors");
    }
    if (name.startsWith("JMS") && !name.startsWith("JMSX") && !name.startsWith("JMS_")) {
      throw JmsFaults.invalidArgument(
          "the property name '" + name + "' begins with JMS, which is kept for headers");
    }
    return name;
  }

  public boolean getBoolean(String name) throws JMSException {
    return Values.toBoolean(values.get(name));
  }

  public byte getByte(String name) throws JMSException {
    return Values.toByte(values.get(name));
  }

  public short getShort(String name) throws JMSException {
    return Values.toShort(values.get(name));
  }

  public int getInt(String name) throws JMSException {
    return Values.toInt(values.get(name));
  }

  public long getLong(String name) throws JMSException {
    return Values.toLong(values.get(name));
  }

  public float getFloat(String name) throws JMSException {
    return Values.toFloat(values.get(name));
  }

  public double getDouble(String name) throws JMSException {
    return Values.toDouble(values.get(name));
  }

  public @Nullable String getString(String name) throws JMSException {
    return Values.toText(values.get(name));
  }
}
