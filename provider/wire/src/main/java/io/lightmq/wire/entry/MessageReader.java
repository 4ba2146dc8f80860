package io.lightmq.wire.entry;

import static io.lightmq.wire.entry.MessageLayout.BODY_TYPE;
import static io.lightmq.wire.entry.MessageLayout.CRC;
import static io.lightmq.wire.entry.MessageLayout.DELIVERY_DELAY;
import static io.lightmq.wire.entry.MessageLayout.FLAGS;
import static io.lightmq.wire.entry.MessageLayout.GROUPED;
import static io.lightmq.wire.entry.MessageLayout.HAS_ID;
import static io.lightmq.wire.entry.MessageLayout.HAS_TIMESTAMP;
import static io.lightmq.wire.entry.MessageLayout.HEADERS;
import static io.lightmq.wire.entry.MessageLayout.HEADER_CORRELATION_BYTES;
import static io.lightmq.wire.entry.MessageLayout.HEADER_CORRELATION_ID;
import static io.lightmq.wire.entry.MessageLayout.HEADER_DESTINATION;
import static io.lightmq.wire.entry.MessageLayout.HEADER_REPLY_TO;
import static io.lightmq.wire.entry.MessageLayout.HEADER_TYPE;
import static io.lightmq.wire.entry.MessageLayout.ID_LEAST;
import static io.lightmq.wire.entry.MessageLayout.ID_MOST;
import static io.lightmq.wire.entry.MessageLayout.ID_NUMBER;
import static io.lightmq.wire.entry.MessageLayout.MAX_PROPERTIES;
import static io.lightmq.wire.entry.MessageLayout.MIN_BYTES;
import static io.lightmq.wire.entry.MessageLayout.NO_BODY;
import static io.lightmq.wire.entry.MessageLayout.PERSISTENT;
import static io.lightmq.wire.entry.MessageLayout.PRIORITY;
import static io.lightmq.wire.entry.MessageLayout.TIMESTAMP;
import static io.lightmq.wire.entry.MessageLayout.TIME_TO_LIVE;
import static io.lightmq.wire.entry.MessageLayout.VERSION;
import static io.lightmq.wire.entry.MessageLayout.VERSION_AT;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads one encoded message where it lies in a buffer, see {@link MessageWriter} for the layout.
 * Nothing but the fixed fields and three lengths is looked at before it is asked for, and nothing
 * is kept: the buffer must stay as it is while the reader is in use. The static methods read the
 * fixed fields without any allocation.
 *
 * <p>Every method that decodes throws {@link MalformedMessageException} if the bytes don't fit.
 */
public final class MessageReader {
  private final ByteBuffer buffer;
  private final int at;
  private final int end;
  private final int headersAt;
  private final int headersEnd;
  private final int propertiesAt;
  private final int propertiesEnd;

  /**
   * A reader of the message at a place; checks the frame, not the CRC.
   *
   * @throws MalformedMessageException with the facts
   */
  public MessageReader(ByteBuffer buffer, int at, int messageBytes) {
    checkFrame(buffer, at, messageBytes);
    this.buffer = buffer;
    this.at = at;
    this.end = at + messageBytes;
    ByteSource source = new ByteSource(buffer, at + HEADERS, end);
    int headerBytes = source.readLength("header section");
    this.headersAt = source.at();
    source.skip(headerBytes);
    this.headersEnd = source.at();
    int propertyBytes = source.readLength("property section");
    this.propertiesAt = source.at();
    this.propertiesEnd = propertiesAt + propertyBytes;
  }

  /** A reader of the message in an entry. */
  public static MessageReader ofEntry(ByteBuffer buffer, int entryAt) {
    return new MessageReader(
        buffer,
        entryAt + Entry.messageOffset(buffer, entryAt),
        Entry.messageBytes(buffer, entryAt));
  }

  // ---- without an object ----

  /** The fewest bytes of a message. */
  public static int minBytes() {
    return MIN_BYTES;
  }

  /**
   * Checks length and version of a message, not its CRC.
   *
   * @throws MalformedMessageException with the facts
   */
  public static void checkFrame(ByteBuffer buffer, int at, int messageBytes) {
    if (messageBytes < MIN_BYTES) {
      throw new MalformedMessageException(
          "a message has at least " + MIN_BYTES + " bytes; at " + at + " are " + messageBytes);
    }
    int version = buffer.get(at + VERSION_AT);
    if (version != VERSION) {
      throw new MalformedMessageException(
          "message at " + at + " has version " + version + "; this program reads " + VERSION);
    }
  }

  /**
   * Checks length, version and CRC of a message.
   *
   * @throws MalformedMessageException with the facts
   */
  public static void check(ByteBuffer buffer, int at, int messageBytes) {
    checkFrame(buffer, at, messageBytes);
    int stored = buffer.getInt(at + CRC);
    int computed = Crc.of(buffer, at + VERSION_AT, at + messageBytes);
    if (stored != computed) {
      throw new MalformedMessageException(
          String.format(
              "message at %d, %d bytes, has crc %08x, expected %08x",
              at, messageBytes, stored, computed));
    }
  }

  /** The JMS priority. */
  public static int priority(ByteBuffer buffer, int at) {
    return buffer.get(at + PRIORITY);
  }

  /** Whether the message is persistent. */
  public static boolean isPersistent(ByteBuffer buffer, int at) {
    return (buffer.get(at + FLAGS) & PERSISTENT) != 0;
  }

  /** Whether the message belongs to a group: it has a JMSXGroupID. */
  public static boolean isGrouped(ByteBuffer buffer, int at) {
    return (buffer.get(at + FLAGS) & GROUPED) != 0;
  }

  /** How long it lives, from its arrival at the broker; 0 for ever. */
  public static long timeToLiveMillis(ByteBuffer buffer, int at) {
    return buffer.getLong(at + TIME_TO_LIVE);
  }

  /** How long it is held back, from its arrival at the broker. */
  public static long deliveryDelayMillis(ByteBuffer buffer, int at) {
    return buffer.getLong(at + DELIVERY_DELAY);
  }

  // ---- fixed fields ----

  /** The kind of body. */
  public BodyType bodyType() {
    return BodyType.of(buffer.get(at + BODY_TYPE) & 0xFF);
  }

  /** The JMS priority. */
  public int priority() {
    return priority(buffer, at);
  }

  /** Whether the message is persistent. */
  public boolean isPersistent() {
    return isPersistent(buffer, at);
  }

  /** How long it lives, from its arrival at the broker; 0 for ever. */
  public long timeToLiveMillis() {
    return timeToLiveMillis(buffer, at);
  }

  /** How long it is held back, from its arrival at the broker. */
  public long deliveryDelayMillis() {
    return deliveryDelayMillis(buffer, at);
  }

  /** Whether the producer put its time on the message. */
  public boolean hasTimestamp() {
    return flag(HAS_TIMESTAMP);
  }

  /** The producer's time, 0 without one. */
  public long timestampMillis() {
    return buffer.getLong(at + TIMESTAMP);
  }

  /** The message id, null if it has none. */
  public @Nullable MessageId messageId() {
    if (!flag(HAS_ID)) {
      return null;
    }
    long number = buffer.getLong(at + ID_NUMBER);
    if (number < 0) {
      throw new MalformedMessageException("message at " + at + " has the number " + number);
    }
    return new MessageId(buffer.getLong(at + ID_MOST), buffer.getLong(at + ID_LEAST), number);
  }

  // ---- headers ----

  /** The correlation id, null if none or bytes. */
  public @Nullable String correlationId() {
    return stringHeader(HEADER_CORRELATION_ID);
  }

  /** The correlation id as bytes, null if none or a string. */
  public byte @Nullable [] correlationIdBytes() {
    ByteSource value = header(HEADER_CORRELATION_BYTES);
    return value == null ? null : value.readBytes(value.remaining());
  }

  /** The message type that the application chose. */
  public @Nullable String type() {
    return stringHeader(HEADER_TYPE);
  }

  /** Where answers should go. */
  public @Nullable DestinationName replyTo() {
    return destinationHeader(HEADER_REPLY_TO);
  }

  /** The destination to which the message was sent. */
  public @Nullable DestinationName destination() {
    return destinationHeader(HEADER_DESTINATION);
  }

  private @Nullable String stringHeader(int tag) {
    ByteSource value = header(tag);
    return value == null ? null : value.readChars(value.remaining());
  }

  private @Nullable DestinationName destinationHeader(int tag) {
    ByteSource value = header(tag);
    if (value == null) {
      return null;
    }
    int kind = value.readByte();
    String name = value.readChars(value.remaining());
    try {
      return new DestinationName(DestinationKind.of(kind), name);
    } catch (IllegalArgumentException e) {
      throw new MalformedMessageException("header " + tag + ": " + e.getMessage());
    }
  }

  private @Nullable ByteSource header(int tag) {
    ByteSource headers = new ByteSource(buffer, headersAt, headersEnd);
    while (headers.remaining() > 0) {
      int found = headers.readByte();
      int length = headers.readLength("header");
      if (found == tag) {
        return new ByteSource(buffer, headers.at(), headers.at() + length);
      }
      headers.skip(length);
    }
    return null;
  }

  /** Where the header section ends in the buffer. */
  int headersEndIn() {
    return headersEnd;
  }

  // ---- properties ----

  /** All properties, in the order in which they were written. */
  public Map<String, @Nullable Object> properties() {
    if (propertiesAt == propertiesEnd) {
      return new LinkedHashMap<>();
    }
    return entries(new ByteSource(buffer, propertiesAt, propertiesEnd), MAX_PROPERTIES);
  }

  /** One property's value; null if it is not there or null. */
  public @Nullable Object property(String name) {
    if (propertiesAt == propertiesEnd) {
      return null;
    }
    ByteSource source = new ByteSource(buffer, propertiesAt, propertiesEnd);
    int count = source.readCount("properties", 2, MAX_PROPERTIES);
    for (int i = 0; i < count; i++) {
      if (source.readName().equals(name)) {
        return source.readValue();
      }
      source.skipValue();
    }
    return null;
  }

  // ---- bodies ----

  /** The body's encoded length. */
  public int bodyBytes() {
    return end - propertiesEnd;
  }

  /** The text; null if it was not set. */
  public @Nullable String textBody() {
    return body(BodyType.TEXT) ? bodySource().readChars(bodyBytes()) : null;
  }

  /** A bytes message's content. */
  public byte[] bytesBody() {
    body(BodyType.BYTES);
    return bodySource().readBytes(bodyBytes());
  }

  /** A serialised object; null if it was not set. */
  public byte @Nullable [] objectBody() {
    return body(BodyType.OBJECT) ? bodySource().readBytes(bodyBytes()) : null;
  }

  /** A map message's entries, in the order in which they were written. */
  public Map<String, @Nullable Object> mapBody() {
    body(BodyType.MAP);
    return bodyBytes() == 0 ? new LinkedHashMap<>() : entries(bodySource(), Integer.MAX_VALUE);
  }

  /** A stream message's values. */
  public List<@Nullable Object> streamBody() {
    body(BodyType.STREAM);
    if (bodyBytes() == 0) {
      return new ArrayList<>();
    }
    ByteSource source = bodySource();
    int count = source.readCount("stream values", 1, Integer.MAX_VALUE);
    @Nullable Object[] values = new @Nullable Object[count];
    for (int i = 0; i < count; i++) {
      values[i] = source.readValue();
    }
    source.expectEnd("stream");
    return Arrays.asList(values);
  }

  private ByteSource bodySource() {
    return new ByteSource(buffer, propertiesEnd, end);
  }

  /** Checks the type; false if the body is null. */
  private boolean body(BodyType type) {
    if (bodyType() != type) {
      throw new IllegalStateException("the message's body is " + bodyType() + ", not " + type);
    }
    return !flag(NO_BODY);
  }

  private static Map<String, @Nullable Object> entries(ByteSource source, int limit) {
    int count = source.readCount("named values", 2, limit);
    // Not sized by the count: a name and null take two bytes, a bucket four to eight.
    Map<String, @Nullable Object> entries = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      entries.put(source.readName(), source.readValue());
    }
    source.expectEnd("named values");
    return entries;
  }

  private boolean flag(int bit) {
    return (buffer.get(at + FLAGS) & bit) != 0;
  }
}
