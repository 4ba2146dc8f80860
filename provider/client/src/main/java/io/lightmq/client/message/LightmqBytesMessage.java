package io.lightmq.client.message;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.wire.entry.BodyType;
import io.lightmq.wire.entry.MessageReader;
import io.lightmq.wire.entry.MessageWriter;
import jakarta.jms.BytesMessage;
import jakarta.jms.JMSException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A sequence of bytes: first written, then, after a reset or when received, read. */
final class LightmqBytesMessage extends LightmqMessage implements BytesMessage {
  private static final int FIRST_BYTES = 256;

  private byte[] content = new byte[0];
  private int length;
  private int read;

  // ---- reading ----

  private ByteBuffer readable(int bytes) throws JMSException {
    requireReadable();
    if (length - read < bytes) {
      throw JmsFaults.endOfBody(
          "the read needs " + bytes + " bytes, " + (length - read) + " of " + length + " remain");
    }
    ByteBuffer view = ByteBuffer.wrap(content, read, bytes);
    read += bytes;
    return view;
  }

  private void requireReadable() throws JMSException {
    if (!isBodyReadOnly()) {
      throw JmsFaults.notReadable();
    }
    decodeBodyOnce();
  }

  @Override
  public long getBodyLength() throws JMSException {
    requireReadable();
    return length;
  }

  @Override
  public boolean readBoolean() throws JMSException {
    return readable(1).get() != 0;
  }

  @Override
  public byte readByte() throws JMSException {
    return readable(1).get();
  }

  @Override
  public int readUnsignedByte() throws JMSException {
    return readable(1).get() & 0xFF;
  }

  @Override
  public short readShort() throws JMSException {
    return readable(2).getShort();
  }

  @Override
  public int readUnsignedShort() throws JMSException {
    return readable(2).getShort() & 0xFFFF;
  }

  @Override
  public char readChar() throws JMSException {
    return readable(2).getChar();
  }

  @Override
  public int readInt() throws JMSException {
    return readable(4).getInt();
  }

  @Override
  public long readLong() throws JMSException {
    return readable(8).getLong();
  }

  @Override
  public float readFloat() throws JMSException {
    return readable(4).getFloat();
  }

  @Override
  public double readDouble() throws JMSException {
    return readable(8).getDouble();
  }

  @Override
  public String readUTF() throws JMSException {
    int before = read;
    int bytes = readable(2).getShort() & 0xFFFF;
    read = before;
    ByteBuffer whole = readable(2 + bytes);
    try (DataInputStream in =
        new DataInputStream(new ByteArrayInputStream(content, whole.position(), 2 + bytes))) {
      return in.readUTF();
    } catch (IOException e) {
      read = before;
      throw JmsFaults.format("the " + bytes + " bytes at " + before + " are no UTF string", e);
    }
  }

  @Override
  public int readBytes(byte[] value) throws JMSException {
    return readBytes(value, value.length);
  }

  @Override
  public int readBytes(byte[] value, int count) throws JMSException {
    if (count < 0 || count > value.length) {
      throw new IndexOutOfBoundsException(
          "length " + count + " is not 0 to the array's " + value.length);
    }
    requireReadable();
    int available = Math.min(count, length - read);
    if (available == 0 && count > 0) {
      return -1;
    }
    System.arraycopy(content, read, value, 0, available);
    read += available;
    return available;
  }

  // ---- writing ----

  private ByteBuffer writable(int bytes) throws JMSException {
    requireWritableBody();
    int needed = Math.addExact(length, bytes);
    if (needed > content.length) {
      int grown =
          (int) Math.min(Integer.MAX_VALUE - 8L, Math.max(FIRST_BYTES, content.length * 2L));
      content = Arrays.copyOf(content, Math.max(needed, grown));
    }
    ByteBuffer view = ByteBuffer.wrap(content, length, bytes);
    length = needed;
    return view;
  }

  @Override
  public void writeBoolean(boolean value) throws JMSException {
    writable(1).put((byte) (value ? 1 : 0));
  }

  @Override
  public void writeByte(byte value) throws JMSException {
    writable(1).put(value);
  }

  @Override
  public void writeShort(short value) throws JMSException {
    writable(2).putShort(value);
  }

  @Override
  public void writeChar(char value) throws JMSException {
    writable(2).putChar(value);
  }

  @Override
  public void writeInt(int value) throws JMSException {
    writable(4).putInt(value);
  }

  @Override
  public void writeLong(long value) throws JMSException {
    writable(8).putLong(value);
  }

  @Override
  public void writeFloat(float value) throws JMSException {
    writable(4).putFloat(value);
  }

  @Override
  public void writeDouble(double value) throws JMSException {
    writable(8).putDouble(value);
  }

  @Override
  public void writeUTF(String value) throws JMSException {
    requireWritableBody();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(value.length() + 2);
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeUTF(value);
    } catch (IOException e) {
      throw JmsFaults.format(
          "a UTF string has at most 65535 bytes, this one has " + value.length() + " characters",
          e);
    }
    writeBytes(bytes.toByteArray());
  }

  @Override
  public void writeBytes(byte[] value) throws JMSException {
    writeBytes(value, 0, value.length);
  }

  @Override
  public void writeBytes(byte[] value, int offset, int count) throws JMSException {
    Objects.checkFromIndexSize(offset, count, value.length);
    writable(count).put(value, offset, count);
  }

  @Override
  public void writeObject(Object value) throws JMSException {
    requireWritableBody();
    if (value instanceof Boolean bool) {
      writeBoolean(bool);
    } else if (value instanceof Byte number) {
      writeByte(number);
    } else if (value instanceof Short number) {
      writeShort(number);
    } else if (value instanceof Character character) {
      writeChar(character);
    } else if (value instanceof Integer number) {
      writeInt(number);
    } else if (value instanceof Long number) {
      writeLong(number);
    } else if (value instanceof Float number) {
      writeFloat(number);
    } else if (value instanceof Double number) {
      writeDouble(number);
    } else if (value instanceof String text) {
      writeUTF(text);
    } else if (value instanceof byte[] bytes) {
      writeBytes(bytes);
    } else if (value == null) {
      throw new NullPointerException("a bytes message cannot hold null");
    } else {
      throw JmsFaults.format("a bytes message cannot hold a " + value.getClass().getName());
    }
  }

  @Override
  public void reset() throws JMSException {
    decodeBodyOnce();
    bodyReadOnly(true);
    read = 0;
  }

  // ---- the body ----

  @Override
  BodyType bodyType() {
    return BodyType.BYTES;
  }

  @Override
  void decodeBody(MessageReader reader) {
    content = reader.bytesBody();
    length = content.length;
    read = 0;
  }

  @Override
  void encodeBody(MessageWriter writer) {
    writer.bytesBody(content, 0, length);
  }

  @Override
  void emptyBody() {
    content = new byte[0];
    length = 0;
    read = 0;
  }

  @Override
  @Nullable Object bodyValue() throws JMSException {
    reset();
    return length == 0 ? null : Arrays.copyOf(content, length);
  }

  @Override
  boolean fits(Class<?> wanted, Object value) {
    return wanted == byte[].class || wanted == Object.class;
  }
}
