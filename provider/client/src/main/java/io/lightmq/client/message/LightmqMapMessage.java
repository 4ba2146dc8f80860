package io.lightmq.client.message;

import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageWriter;
import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Typed values by name. */
final class LightmqMapMessage extends LightmqMessage implements MapMessage {
  private Map<String, @Nullable Object> entries = new LinkedHashMap<>();

  private @Nullable Object value(String name) throws JMSException {
    decodeBodyOnce();
    return entries.get(name);
  }

  @Override
  public boolean getBoolean(String name) throws JMSException {
    return Values.toBoolean(value(name));
  }

  @Override
  public byte getByte(String name) throws JMSException {
    return Values.toByte(value(name));
  }

  @Override
  public short getShort(String name) throws JMSException {
    return Values.toShort(value(name));
  }

  @Override
  public char getChar(String name) throws JMSException {
    return Values.toChar(value(name));
  }

  @Override
  public int getInt(String name) throws JMSException {
    return Values.toInt(value(name));
  }

  @Override
  public long getLong(String name) throws JMSException {
    return Values.toLong(value(name));
  }

  @Override
  public float getFloat(String name) throws JMSException {
    return Values.toFloat(value(name));
  }

  @Override
  public double getDouble(String name) throws JMSException {
    return Values.toDouble(value(name));
  }

  @Override
  public @Nullable String getString(String name) throws JMSException {
    return Values.toText(value(name));
  }

  @Override
  public byte @Nullable [] getBytes(String name) throws JMSException {
    return Values.toBytes(value(name));
  }

  @Override
  public @Nullable Object getObject(String name) throws JMSException {
    Object value = value(name);
    return value instanceof byte[] bytes ? bytes.clone() : value;
  }

  @Override
  public Enumeration<String> getMapNames() throws JMSException {
    decodeBodyOnce();
    return Collections.enumeration(Collections.unmodifiableSet(entries.keySet()));
  }

  @Override
  public boolean itemExists(String name) throws JMSException {
    decodeBodyOnce();
    return entries.containsKey(name);
  }

  @Override
  public void setBoolean(String name, boolean value) throws JMSException {
    setObject(name, value);
  }

  @Override
  public void setByte(String name, byte value) throws JMSException {
    setObject(name, value);
  }

  @Override
  public void setShort(String name, short value) throws JMSException {
    setObject(name, value);
  }

  @Override
  public void setChar(String name, char value) throws JMSException {
    setObject(name, value);
  }

  @Override
  public void setInt(String name, int value) throws JMSException {
    setObject(name, value);
  }

  @Override
  public void setLong(String name, long value) throws JMSException {
    setObject(name, value);
  }

  @Override
  public void setFloat(String name, float value) throws JMSException {
    setObject(name, value);
  }

  @Override
  public void setDouble(String name, double value) throws JMSException {
    setObject(name, value);
  }

  @Override
  public void setString(String name, @Nullable String value) throws JMSException {
    setObject(name, value);
  }

  @Override
  public void setBytes(String name, byte @Nullable [] value) throws JMSException {
    setObject(name, value);
  }

  @Override
  public void setBytes(String name, byte[] value, int offset, int length) throws JMSException {
    setObject(name, Arrays.copyOfRange(value, offset, offset + length));
  }

  @Override
  public void setObject(@Nullable String name, @Nullable Object value) throws JMSException {
    requireWritableBody();
    if (name == null || name.isEmpty()) {
      throw new IllegalArgumentException("a map entry's name has at least one character");
    }
    entries.put(name, Values.checkBody(value));
  }

  @Override
  BodyType bodyType() {
    return BodyType.MAP;
  }

  @Override
  void decodeBody(MessageReader reader) {
    entries = reader.mapBody();
  }

  @Override
  void encodeBody(MessageWriter writer) {
    writer.mapBody(entries);
  }

  @Override
  void emptyBody() {
    entries = new LinkedHashMap<>();
  }

  @Override
  @Nullable Object bodyValue() throws JMSException {
    decodeBodyOnce();
    if (entries.isEmpty()) {
      return null;
    }
    Map<String, @Nullable Object> copy = new LinkedHashMap<>(entries);
    copy.replaceAll((name, value) -> value instanceof byte[] bytes ? bytes.clone() : value);
    return copy;
  }

  @Override
  boolean fits(Class<?> wanted, Object value) {
    return wanted == Map.class || wanted == Object.class;
  }
}
