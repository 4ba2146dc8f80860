package io.lightmq.wire.entry;

import static io.lightmq.wire.entry.MessageLayout.BODY_TYPE;
import static io.lightmq.wire.entry.MessageLayout.CRC;
import static io.lightmq.wire.entry.MessageLayout.DELIVERY_DELAY;
import static io.lightmq.wire.entry.MessageLayout.FLAGS;
import static io.lightmq.wire.entry.MessageLayout.GROUPED;
import static io.lightmq.wire.entry.MessageLayout.GROUP_ID;
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
import static io.lightmq.wire.entry.MessageLayout.MAX_NAME_BYTES;
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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes encoded messages, one after the other, into a buffer of its own; for one thread at a time.
 * Call {@link #start}, then headers, then {@link #properties}, then one body, then {@link #finish}.
 *
 * <pre>
 *  0 int   crc32c   over bytes 4 to the end
 *  4 byte  version  1
 *  5 byte  bodyType 0 Message, 1 Text, 2 Bytes, 3 Map, 4 Stream, 5 Object
 *  6 byte  priority 0 to 9
 *  7 byte  flags    bit 0 persistent, bit 1 timestamp present, bit 2 message id present,
 *                   bit 3 the body is null (a text or object that was never set),
 *                   bit 4 the property JMSXGroupID is a string and not empty
 *  8 long  timeToLiveMillis     0 for ever
 * 16 long  deliveryDelayMillis  0 for none
 * 24 long  timestampMillis      the producer's clock
 * 32 long, long, long           message id: UUID and number
 * 56 varint headerBytes, then headers, each: byte tag, varint length, value
 *      1 correlation id  string          4 reply-to     byte kind, name
 *      2 correlation id  bytes           5 destination  byte kind, name
 *      3 type            string          others are skipped by readers
 *    varint propertyBytes, then varint count and each property: string name, value; empty if 0
 *    body, to the end
 *      Text    the characters            Bytes, Object  the bytes
 *      Map     varint count, each: string name, value
 *      Stream  varint count, values
 * string: varint length, characters.  characters: UTF-8, a lone surrogate as three bytes
 * value:  byte tag and
 *      0 null        3 byte   byte       6 int   int        9 double long
 *      1 false       4 short  short      7 long  long      10 String string
 *      2 true        5 char   short      8 float int       11 byte[] varint length, bytes
 * </pre>
 */
public final class MessageWriter {
  /** A buffer that a large message has grown beyond this is not kept for the next one. */
  private static final int KEEP_BYTES = 64 * 1024;

  private static final int IN_HEADERS = 0;
  private static final int BEFORE_BODY = 1;
  private static final int AFTER_BODY = 2;
  private static final int DONE = 3;

  private final ByteSink sink;
  private int step = DONE;
  private int headersFrame;

  /**
   * A writer for messages up to a limit.
   *
   * @param limitBytes whatever goes beyond it throws {@link MessageTooLargeException}
   */
  public MessageWriter(int limitBytes) {
    if (limitBytes < MIN_BYTES) {
      throw new IllegalArgumentException(
          "a message has at least " + MIN_BYTES + " bytes, the limit is " + limitBytes);
    }
    this.sink = new ByteSink(limitBytes);
  }

  /** Begins a message and drops the one before; every fixed field may be set until the body. */
  public MessageWriter start(
      BodyType bodyType,
      int priority,
      boolean persistent,
      long timeToLiveMillis,
      long deliveryDelayMillis) {
    if (priority < 0 || priority > 9) {
      throw new IllegalArgumentException("a priority is 0 to 9, not " + priority);
    }
    if (timeToLiveMillis < 0 || deliveryDelayMillis < 0) {
      throw new IllegalArgumentException(
          "time to live and delay are at least 0, not "
              + timeToLiveMillis
              + " and "
              + deliveryDelayMillis);
    }
    sink.clear(KEEP_BYTES);
    sink.skip(HEADERS);
    sink.setByte(VERSION_AT, VERSION);
    sink.setByte(BODY_TYPE, bodyType.code());
    sink.setByte(PRIORITY, priority);
    sink.setByte(FLAGS, persistent ? PERSISTENT : 0);
    sink.setLong(TIME_TO_LIVE, timeToLiveMillis);
    sink.setLong(DELIVERY_DELAY, deliveryDelayMillis);
    headersFrame = sink.openFrame();
    step = IN_HEADERS;
    return this;
  }

  /** The producer's time; without it the message has none. */
  public MessageWriter timestampMillis(long timestampMillis) {
    expect(IN_HEADERS);
    flag(HAS_TIMESTAMP);
    sink.setLong(TIMESTAMP, timestampMillis);
    return this;
  }

  /** The message's id; without it the message has none. */
  public MessageWriter messageId(long most, long least, long number) {
    expect(IN_HEADERS);
    flag(HAS_ID);
    sink.setLong(ID_MOST, most);
    sink.setLong(ID_LEAST, least);
    sink.setLong(ID_NUMBER, number);
    return this;
  }

  /** The correlation id, if any. */
  public MessageWriter correlationId(@Nullable String correlationId) {
    return header(HEADER_CORRELATION_ID, correlationId);
  }

  /** The correlation id as bytes, if any. */
  public MessageWriter correlationIdBytes(byte @Nullable [] correlationId) {
    expect(IN_HEADERS);
    if (correlationId != null) {
      sink.putByte(HEADER_CORRELATION_BYTES);
      sink.putVarint(correlationId.length);
      sink.putBytes(correlationId, 0, correlationId.length);
    }
    return this;
  }

  /** The message type that the application chose, if any. */
  public MessageWriter type(@Nullable String type) {
    return header(HEADER_TYPE, type);
  }

  /** Where answers should go, if anywhere. */
  public MessageWriter replyTo(@Nullable DestinationName replyTo) {
    return header(HEADER_REPLY_TO, replyTo);
  }

  /** The destination to which the message is sent. */
  public MessageWriter destination(@Nullable DestinationName destination) {
    return header(HEADER_DESTINATION, destination);
  }

  /**
   * The properties: Boolean, Byte, Short, Integer, Long, Float, Double, String or null each.
   *
   * @throws IllegalArgumentException for other types and for more than 10,000
   */
  public MessageWriter properties(Map<String, ? extends @Nullable Object> properties) {
    expect(IN_HEADERS);
    sink.closeFrame(headersFrame);
    step = BEFORE_BODY;
    int frame = sink.openFrame();
    if (!properties.isEmpty()) {
      if (properties.size() > MAX_PROPERTIES) {
        throw new IllegalArgumentException(
            "a message has at most " + MAX_PROPERTIES + " properties, not " + properties.size());
      }
      for (Object value : properties.values()) {
        if (value instanceof Character || value instanceof byte[]) {
          throw new IllegalArgumentException(
              "a property cannot be a " + value.getClass().getSimpleName());
        }
      }
      putEntries(properties);
      if (properties.get(GROUP_ID) instanceof String group && !group.isEmpty()) {
        flag(GROUPED);
      }
    }
    sink.closeFrame(frame);
    return this;
  }

  /** The text, null for a text message whose text was not set. */
  public MessageWriter textBody(@Nullable String text) {
    body(BodyType.TEXT);
    if (text == null) {
      flag(NO_BODY);
    } else {
      sink.putChars(text);
    }
    return this;
  }

  /** A bytes message's content. */
  public MessageWriter bytesBody(byte[] content, int from, int count) {
    body(BodyType.BYTES);
    sink.putBytes(content, from, count);
    return this;
  }

  /** A serialised object, null if it was not set. */
  public MessageWriter objectBody(byte @Nullable [] serialised) {
    body(BodyType.OBJECT);
    if (serialised == null) {
      flag(NO_BODY);
    } else {
      sink.putBytes(serialised, 0, serialised.length);
    }
    return this;
  }

  /** A map message's entries: null, String, byte[] or a boxed primitive each. */
  public MessageWriter mapBody(Map<String, ? extends @Nullable Object> entries) {
    body(BodyType.MAP);
    putEntries(entries);
    return this;
  }

  /** A stream message's values: null, String, byte[] or a boxed primitive each. */
  public MessageWriter streamBody(List<? extends @Nullable Object> values) {
    body(BodyType.STREAM);
    sink.putVarint(values.size());
    for (Object value : values) {
      sink.putValue(value);
    }
    return this;
  }

  /** Ends the message and returns its length; a message without a body call has an empty body. */
  public int finish() {
    if (step == IN_HEADERS) {
      properties(Map.of());
    }
    if (step != AFTER_BODY) {
      expect(BEFORE_BODY);
    }
    sink.setInt(CRC, Crc.of(ByteBuffer.wrap(sink.bytes()), VERSION_AT, sink.length()));
    step = DONE;
    return sink.length();
  }

  /** The finished message's bytes, up to {@link #length}; valid until the next start. */
  public byte[] array() {
    expect(DONE);
    return sink.bytes();
  }

  /** The finished message's length. */
  public int length() {
    expect(DONE);
    return sink.length();
  }

  /** A copy of the finished message. */
  public byte[] toByteArray() {
    return Arrays.copyOf(array(), length());
  }

  private void putEntries(Map<String, ? extends @Nullable Object> entries) {
    sink.putVarint(entries.size());
    for (Map.Entry<String, ? extends @Nullable Object> entry : entries.entrySet()) {
      if (sink.putString(entry.getKey()) > MAX_NAME_BYTES) {
        throw new IllegalArgumentException(
            "a name has at most " + MAX_NAME_BYTES + " bytes: " + entry.getKey().substring(0, 40));
      }
      sink.putValue(entry.getValue());
    }
  }

  private MessageWriter header(int tag, @Nullable String value) {
    expect(IN_HEADERS);
    if (value != null) {
      sink.putByte(tag);
      sink.putString(value);
    }
    return this;
  }

  private MessageWriter header(int tag, @Nullable DestinationName value) {
    expect(IN_HEADERS);
    if (value != null) {
      sink.putByte(tag);
      int frame = sink.openFrame();
      sink.putByte(value.kind().code());
      sink.putChars(value.name());
      sink.closeFrame(frame);
    }
    return this;
  }

  private void body(BodyType type) {
    if (step == IN_HEADERS) {
      properties(Map.of());
    }
    expect(BEFORE_BODY);
    step = AFTER_BODY;
    if (sink.bytes()[BODY_TYPE] != type.code()) {
      throw new IllegalStateException(
          "the message was started as " + BodyType.of(sink.bytes()[BODY_TYPE]) + ", not " + type);
    }
  }

  private void flag(int bit) {
    sink.setByte(FLAGS, sink.bytes()[FLAGS] | bit);
  }

  private void expect(int expected) {
    if (step != expected) {
      throw new IllegalStateException("message at step " + step + ", the call needs " + expected);
    }
  }
}
