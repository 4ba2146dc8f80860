package io.lightmq.core.storage.segment;

import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageId;
import io.lightmq.wire.entry.MessageReader;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The hashes of one span's JMSCorrelationIDs or JMSMessageIDs: a rising array of the upper halves
 * of 64-bit hashes. An id whose hash is missing is certainly not in the span. Collected while a
 * segment is written, by one thread.
 */
final class IdHashes {
  /** Stored in the place of a count when the ids of a span were not collected. */
  static final int NOT_COLLECTED = -1;

  private int[] correlation = new int[64];
  private int correlations;
  private int[] message = new int[64];
  private int messages;
  private boolean unreadable;

  /** Forgets everything, for the next span. */
  void clear() {
    correlations = 0;
    messages = 0;
    unreadable = false;
  }

  /** Adds the ids of the entry at a place; one that can't be decoded spoils the span's sets. */
  void add(ByteBuffer buffer, int at) {
    if (unreadable) {
      return;
    }
    try {
      MessageReader reader = MessageReader.ofEntry(buffer, at);
      MessageId id = reader.messageId();
      if (id != null) {
        message = grown(message, messages);
        message[messages++] = upper(hash(id));
      }
      String correlationId = reader.correlationId();
      if (correlationId != null) {
        correlation = grown(correlation, correlations);
        correlation[correlations++] = upper(hash(correlationId));
      } else if (reader.correlationIdBytes() != null) {
        unreadable = true;
      }
    } catch (MalformedMessageException e) {
      unreadable = true;
    }
  }

  /** Upper bound of the bytes that {@link #encode} will need. */
  int boundBytes() {
    return (correlations + messages) * Integer.BYTES;
  }

  /** The count of different correlation ids, or {@link #NOT_COLLECTED}; sorts them. */
  int correlationCount() {
    correlations = distinct(correlation, correlations);
    return unreadable ? NOT_COLLECTED : correlations;
  }

  /** The count of different message ids, or {@link #NOT_COLLECTED}; sorts them. */
  int messageCount() {
    messages = distinct(message, messages);
    return unreadable ? NOT_COLLECTED : messages;
  }

  /** Both arrays, correlation ids first; call the counts before. */
  byte[] encode() {
    if (unreadable) {
      return new byte[0];
    }
    ByteBuffer bytes = ByteBuffer.allocate((correlations + messages) * Integer.BYTES);
    bytes.asIntBuffer().put(correlation, 0, correlations).put(message, 0, messages);
    return bytes.array();
  }

  /** The hash under which a correlation id is stored (its upper half). */
  static long hash(String correlationId) {
    long hash = 0xCBF29CE484222325L;
    for (int i = 0; i < correlationId.length(); i++) {
      hash = (hash ^ correlationId.charAt(i)) * 0x100000001B3L;
    }
    return mix(hash);
  }

  /** The hash under which a message id is stored (its upper half). */
  static long hash(MessageId id) {
    return mix(mix(mix(id.most()) ^ id.least()) ^ id.number());
  }

  /** The stored half of a hash. */
  static int upper(long hash) {
    return (int) (hash >>> 32);
  }

  private static long mix(long value) {
    long mixed = value + 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }

  private static int[] grown(int[] values, int count) {
    return count < values.length ? values : Arrays.copyOf(values, count * 2);
  }

  private static int distinct(int[] values, int count) {
    Arrays.sort(values, 0, count);
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (i == 0 || values[i] != values[i - 1]) {
        values[kept++] = values[i];
      }
    }
    return kept;
  }
}
