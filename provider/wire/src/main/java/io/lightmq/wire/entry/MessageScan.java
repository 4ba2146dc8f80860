package io.lightmq.wire.entry;

import static io.lightmq.wire.entry.MessageLayout.FLAGS;
import static io.lightmq.wire.entry.MessageLayout.HAS_ID;
import static io.lightmq.wire.entry.MessageLayout.HAS_TIMESTAMP;
import static io.lightmq.wire.entry.MessageLayout.HEADERS;
import static io.lightmq.wire.entry.MessageLayout.HEADER_CORRELATION_BYTES;
import static io.lightmq.wire.entry.MessageLayout.HEADER_CORRELATION_ID;
import static io.lightmq.wire.entry.MessageLayout.HEADER_TYPE;
import static io.lightmq.wire.entry.MessageLayout.ID_LEAST;
import static io.lightmq.wire.entry.MessageLayout.ID_MOST;
import static io.lightmq.wire.entry.MessageLayout.ID_NUMBER;
import static io.lightmq.wire.entry.MessageLayout.MAX_NAME_BYTES;
import static io.lightmq.wire.entry.MessageLayout.MAX_PROPERTIES;
import static io.lightmq.wire.entry.MessageLayout.TIMESTAMP;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Walks over one encoded message after the other without making objects of what it finds: for
 * selectors, which look at few properties of many messages. A value is a kind and a number, or a
 * place in the buffer, which must stay as it is meanwhile. For one thread at a time.
 *
 * <p>Every method that moves throws {@link MalformedMessageException} if the bytes don't fit.
 */
public final class MessageScan {
  /** What a property's value is. */
  public enum Kind {
    /** Null, or a type that no property can have. */
    NULL,
    BOOLEAN,
    /** A byte, short or int. */
    INT,
    LONG,
    FLOAT,
    DOUBLE,
    STRING
  }

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private ByteBuffer buffer = NOTHING;
  private int at;
  private ByteSource source = new ByteSource(NOTHING, 0, 0);
  private int headersAt;
  private int headersEnd;
  private int propertiesLeft;
  private int selectableBytes;
  private int nameAt;
  private int nameBytes;
  private Kind kind = Kind.NULL;
  private long exact;
  private double approximate;
  private int textAt;
  private int textBytes;

  /** The bytes that stand for a string in an encoded message. */
  public static byte[] encode(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    // Three bytes a char at most; the JDK writes a lone surrogate as a question mark.
    if (new String(utf8, StandardCharsets.UTF_8).equals(text)) {
      return utf8;
    }
    ByteSink sink = new ByteSink(3 * text.length() + 16);
    sink.putChars(text);
    return Arrays.copyOf(sink.bytes(), sink.length());
  }

  /** Begins with the message at a place, before its first property. */
  public void open(ByteBuffer message, int messageAt, int messageBytes) {
    MessageReader.checkFrame(message, messageAt, messageBytes);
    buffer = message;
    at = messageAt;
    source = new ByteSource(message, messageAt + HEADERS, messageAt + messageBytes);
    int headerBytes = source.readLength("header section");
    headersAt = source.at();
    headersEnd = headersAt + headerBytes;
    source.skip(headerBytes);
    int propertyBytes = source.readLength("property section");
    selectableBytes = headerBytes + propertyBytes;
    propertiesLeft = 0;
    source = new ByteSource(message, source.at(), source.at() + propertyBytes);
    if (propertyBytes > 0) {
      propertiesLeft = source.readCount("properties", 2, MAX_PROPERTIES);
    }
  }

  /** The bytes of the headers and properties, which are all that selectors can look at. */
  public int selectableBytes() {
    return selectableBytes;
  }

  /** The buffer in which the places are. */
  public ByteBuffer buffer() {
    return buffer;
  }

  // ---- properties ----

  /** Goes to the next property; false behind the last. */
  public boolean nextProperty() {
    if (propertiesLeft == 0) {
      return false;
    }
    propertiesLeft--;
    nameBytes = source.readLength("name");
    if (nameBytes > MAX_NAME_BYTES) {
      throw new MalformedMessageException(
          "name at "
              + source.at()
              + " has "
              + nameBytes
              + " bytes; the limit is "
              + MAX_NAME_BYTES);
    }
    nameAt = source.at();
    source.skip(nameBytes);
    value();
    return true;
  }

  private void value() {
    int valueAt = source.at() + 1;
    int tag = source.remaining() > 0 ? buffer.get(source.at()) : -1;
    source.skipValue();
    switch (tag) {
      case MessageLayout.VALUE_FALSE, MessageLayout.VALUE_TRUE -> {
        kind = Kind.BOOLEAN;
        exact = tag == MessageLayout.VALUE_TRUE ? 1 : 0;
      }
      case MessageLayout.VALUE_BYTE -> exact(Kind.INT, buffer.get(valueAt));
      case MessageLayout.VALUE_SHORT -> exact(Kind.INT, buffer.getShort(valueAt));
      case MessageLayout.VALUE_INT -> exact(Kind.INT, buffer.getInt(valueAt));
      case MessageLayout.VALUE_LONG -> exact(Kind.LONG, buffer.getLong(valueAt));
      case MessageLayout.VALUE_FLOAT -> {
        kind = Kind.FLOAT;
        approximate = Float.intBitsToFloat(buffer.getInt(valueAt));
      }
      case MessageLayout.VALUE_DOUBLE -> {
        kind = Kind.DOUBLE;
        approximate = Double.longBitsToDouble(buffer.getLong(valueAt));
      }
      case MessageLayout.VALUE_STRING -> {
        kind = Kind.STRING;
        textBytes = new ByteSource(buffer, valueAt, source.at()).readVarint();
        textAt = source.at() - textBytes;
      }
      default -> kind = Kind.NULL;
    }
  }

  private void exact(Kind of, long value) {
    kind = of;
    exact = value;
  }

  /** Whether the property has a name, given as {@link #encode} gives it. */
  public boolean isNamed(byte[] name) {
    if (name.length != nameBytes) {
      return false;
    }
    for (int i = 0; i < nameBytes; i++) {
      if (buffer.get(nameAt + i) != name[i]) {
        return false;
      }
    }
    return true;
  }

  /** Orders a name and the property's: by bytes, shorter ones first; 0 if it is named so. */
  public int compareName(byte[] name) {
    int order = Integer.compare(name.length, nameBytes);
    for (int i = 0; order == 0 && i < nameBytes; i++) {
      order = Byte.compare(name[i], buffer.get(nameAt + i));
    }
    return order;
  }

  /** What the property's value is. */
  public Kind kind() {
    return kind;
  }

  /** The value of an {@code INT} or {@code LONG}; 1 or 0 of a {@code BOOLEAN}. */
  public long exact() {
    return exact;
  }

  /** The value of a {@code FLOAT} or {@code DOUBLE}. */
  public double approximate() {
    return approximate;
  }

  /** Where the bytes of a {@code STRING} or of a found header begin. */
  public int textAt() {
    return textAt;
  }

  /** How many they are. */
  public int textBytes() {
    return textBytes;
  }

  // ---- headers ----

  /** Finds the correlation id, a string or bytes; false if there is none. */
  public boolean findCorrelationId() {
    return findHeader(HEADER_CORRELATION_ID, HEADER_CORRELATION_BYTES);
  }

  /** Finds the type that the application chose; false if there is none. */
  public boolean findType() {
    return findHeader(HEADER_TYPE, HEADER_TYPE);
  }

  private boolean findHeader(int tag, int orTag) {
    ByteSource headers = new ByteSource(buffer, headersAt, headersEnd);
    while (headers.remaining() > 0) {
      int found = headers.readByte();
      int length = headers.readLength("header");
      if (found == tag || found == orTag) {
        textAt = headers.at();
        textBytes = length;
        return true;
      }
      headers.skip(length);
    }
    return false;
  }

  /** The JMS priority. */
  public int priority() {
    return MessageReader.priority(buffer, at);
  }

  /** Whether the message is persistent. */
  public boolean isPersistent() {
    return MessageReader.isPersistent(buffer, at);
  }

  /** The producer's time, 0 without one. */
  public long timestampMillis() {
    return (buffer.get(at + FLAGS) & HAS_TIMESTAMP) != 0 ? buffer.getLong(at + TIMESTAMP) : 0;
  }

  /** Whether the message has an id. */
  public boolean hasMessageId() {
    return (buffer.get(at + FLAGS) & HAS_ID) != 0;
  }

  /**
   * Writes the message id's text form, which is ASCII, at the start of a buffer and returns its
   * length; the message has an id.
   *
   * @param into has room for {@link MessageId#MAX_TEXT_CHARS}
   */
  public int putMessageId(ByteBuffer into) {
    return MessageId.put(
        buffer.getLong(at + ID_MOST),
        buffer.getLong(at + ID_LEAST),
        buffer.getLong(at + ID_NUMBER),
        into);
  }
}
