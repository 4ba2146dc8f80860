package io.lightmq.client.message;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageWriter;
import jakarta.jms.JMSException;
import jakarta.jms.StreamMessage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Typed values in a row. A read that fails leaves the place where it is, so that the value can be
 * read as another type.
 */
final class LightmqStreamMessage extends LightmqMessage implements StreamMessage {
  private static final int NOT_IN_BYTES = -1;

  private List<@Nullable Object> values = new ArrayList<>();
  private int next;
  private int bytesRead = NOT_IN_BYTES;

  private interface Conversion<T> {
    T apply(@Nullable Object value) throws JMSException;
  }

  private <T extends @Nullable Object> T read(Conversion<T> conversion) throws JMSException {
    T converted = conversion.apply(current());
    next++;
    return converted;
  }

  private @Nullable Object current() throws JMSException {
    if (bytesRead != NOT_IN_BYTES) {
      throw JmsFaults.format("a byte[] is being read; call readBytes until it says it is over");
    }
    return peek();
  }

  private @Nullable Object peek() throws JMSException {
    if (!isBodyReadOnly()) {
      throw JmsFaults.notReadable();
    }
    decodeBodyOnce();
    if (next >= values.size()) {
      throw JmsFaults.endOfBody("all " + values.size() + " values of the stream are read");
    }
    return values.get(next);
  }

  @Override
  public boolean readBoolean() throws JMSException {
    return read(Values::toBoolean);
  }

  @Override
  public byte readByte() throws JMSException {
    return read(Values::toByte);
  }

  @Override
  public short readShort() throws JMSException {
    return read(Values::toShort);
  }

  @Override
  public char readChar() throws JMSException {
    return read(Values::toChar);
  }

  @Override
  public int readInt() throws JMSException {
    return read(Values::toInt);
  }

  @Override
  public long readLong() throws JMSException {
    return read(Values::toLong);
  }

  @Override
  public float readFloat() throws JMSException {
    return read(Values::toFloat);
  }

  @Override
  public double readDouble() throws JMSException {
    return read(Values::toDouble);
  }

  @Override
  public @Nullable String readString() throws JMSException {
    String text = Values.toText(current());
    next++;
    return text;
  }

  @Override
  public int readBytes(byte[] target) throws JMSException {
    Object value = peek();
    if (value == null) {
      next++;
      return -1;
    }
    if (!(value instanceof byte[] source)) {
      throw JmsFaults.format(
          "a value of type " + value.getClass().getSimpleName() + " cannot be read as byte[]");
    }
    int from = Math.max(0, bytesRead);
    if (bytesRead != NOT_IN_BYTES && from == source.length) {
      leaveBytes();
      return -1;
    }
    int count = Math.min(target.length, source.length - from);
    System.arraycopy(source, from, target, 0, count);
    if (count < target.length) {
      leaveBytes();
    } else {
      bytesRead = from + count;
    }
    return count;
  }

  private void leaveBytes() {
    bytesRead = NOT_IN_BYTES;
    next++;
  }

  @Override
  public @Nullable Object readObject() throws JMSException {
    Object value = current();
    next++;
    return value instanceof byte[] bytes ? bytes.clone() : value;
  }

  @Override
  public void writeBoolean(boolean value) throws JMSException {
    writeObject(value);
  }

  @Override
  public void writeByte(byte value) throws JMSException {
    writeObject(value);
  }

  @Override
  public void writeShort(short value) throws JMSException {
    writeObject(value);
  }

  @Override
  public void writeChar(char value) throws JMSException {
    writeObject(value);
  }

  @Override
  public void writeInt(int value) throws JMSException {
    writeObject(value);
  }

  @Override
  public void writeLong(long value) throws JMSException {
    writeObject(value);
  }

  @Override
  public void writeFloat(float value) throws JMSException {
    writeObject(value);
  }

  @Override
  public void writeDouble(double value) throws JMSException {
    writeObject(value);
  }

  @Override
  public void writeString(@Nullable String value) throws JMSException {
    writeObject(value);
  }

  @Override
  public void writeBytes(byte @Nullable [] value) throws JMSException {
    writeObject(value);
  }

  @Override
  public void writeBytes(byte[] value, int offset, int length) throws JMSException {
    writeObject(Arrays.copyOfRange(value, offset, offset + length));
  }

  @Override
  public void writeObject(@Nullable Object value) throws JMSException {
    requireWritableBody();
    values.add(Values.checkBody(value));
  }

  @Override
  public void reset() throws JMSException {
    decodeBodyOnce();
    bodyReadOnly(true);
    next = 0;
    bytesRead = NOT_IN_BYTES;
  }

  @Override
  BodyType bodyType() {
    return BodyType.STREAM;
  }

  @Override
  void decodeBody(MessageReader reader) {
    values = reader.streamBody();
    next = 0;
    bytesRead = NOT_IN_BYTES;
  }

  @Override
  void encodeBody(MessageWriter writer) {
    writer.streamBody(values);
  }

  @Override
  void emptyBody() {
    values = new ArrayList<>();
    next = 0;
    bytesRead = NOT_IN_BYTES;
  }

  /** The stream itself, which fits nothing: its values are read one by one only. */
  @Override
  Object bodyValue() {
    return values;
  }

  @Override
  boolean fits(Class<?> wanted, Object value) {
    return false;
  }
}
