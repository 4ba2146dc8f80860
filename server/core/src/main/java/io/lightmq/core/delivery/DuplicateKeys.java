package io.lightmq.core.delivery;

import io.lightmq.core.destination.Suppression;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageId;
import io.lightmq.wire.entry.MessageReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Computes the keys by which duplicates are found: the first 128 bits of SHA-256, so that two
 * messages with one key are the same as far as anybody can tell.
 */
@OwnedBy("shard")
final class DuplicateKeys {
  private final MessageDigest digest;

  DuplicateKeys() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** The key of an entry; null if it has none, or its properties cannot be read. */
  @Nullable UUID of(Suppression suppression, ByteBuffer entries, int at) {
    try {
      MessageReader message = MessageReader.ofEntry(entries, at);
      String property = suppression.property();
      if (property != null) {
        Object value = message.property(property);
        return value == null ? null : hash("p" + value);
      }
      MessageId id = message.messageId();
      return id == null ? null : hash("i" + id);
    } catch (MalformedMessageException e) {
      return null;
    }
  }

  private UUID hash(String text) {
    ByteBuffer hash = ByteBuffer.wrap(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
    return new UUID(hash.getLong(), hash.getLong());
  }
}
