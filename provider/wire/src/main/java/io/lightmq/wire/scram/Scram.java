package io.lightmq.wire.scram;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.text.Normalizer;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.ShortBufferException;
import javax.crypto.spec.SecretKeySpec;

/** The functions of RFC 5802 section 3 and the parts of its messages that both sides need. */
final class Scram {
  static final int HASH_BYTES = 32;

  /** The longest message that is looked at; RFC 5802 names no limit. */
  private static final int MAX_MESSAGE_BYTES = 8 * 1024;

  private static final int NONCE_BYTES = 24;

  private Scram() {}

  static String nonce(SecureRandom random) {
    byte[] bytes = new byte[NONCE_BYTES];
    random.nextBytes(bytes);
    return Base64.getEncoder().encodeToString(bytes);
  }

  /** Hi(Normalize(password), salt, iterations): PBKDF2 with one block. */
  static byte[] saltedPassword(String password, byte[] salt, int iterations) {
    byte[] key = normalize(password).getBytes(UTF_8);
    if (key.length == 0) {
      throw new IllegalArgumentException("a password has at least one character");
    }
    Mac mac = mac(key);
    mac.update(salt);
    byte[] block = mac.doFinal(new byte[] {0, 0, 0, 1});
    byte[] result = block.clone();
    try {
      for (int i = 1; i < iterations; i++) {
        mac.update(block);
        mac.doFinal(block, 0);
        for (int k = 0; k < HASH_BYTES; k++) {
          result[k] ^= block[k];
        }
      }
    } catch (ShortBufferException e) {
      throw new AssertionError("32 bytes are too few for SHA-256", e);
    }
    return result;
  }

  static byte[] clientKey(byte[] saltedPassword) {
    return hmac(saltedPassword, "Client Key");
  }

  static byte[] storedKey(byte[] saltedPassword) {
    return hash(clientKey(saltedPassword));
  }

  static byte[] serverKey(byte[] saltedPassword) {
    return hmac(saltedPassword, "Server Key");
  }

  static byte[] hmac(byte[] key, String text) {
    return mac(key).doFinal(text.getBytes(UTF_8));
  }

  static byte[] hash(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java has no SHA-256", e);
    }
  }

  static byte[] xor(byte[] left, byte[] right) {
    byte[] result = new byte[left.length];
    for (int i = 0; i < left.length; i++) {
      result[i] = (byte) (left[i] ^ right[i]);
    }
    return result;
  }

  private static Mac mac(byte[] key) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java has no HmacSHA256", e);
    }
  }

  /**
   * The compatibility form of RFC 4013 (SASLprep), so that a password means the same typed
   * anywhere.
   */
  static String normalize(String text) {
    return Normalizer.normalize(text, Normalizer.Form.NFKC);
  }

  static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  static byte[] fromBase64(String text) throws ScramException {
    try {
      return Base64.getDecoder().decode(text.getBytes(US_ASCII));
    } catch (IllegalArgumentException e) {
      throw new ScramException("a SCRAM attribute is not base64");
    }
  }

  static String text(byte[] message) throws ScramException {
    if (message.length > MAX_MESSAGE_BYTES) {
      throw new ScramException(
          "a SCRAM message has " + message.length + " bytes; the limit is " + MAX_MESSAGE_BYTES);
    }
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(message)).toString();
    } catch (CharacterCodingException e) {
      throw new ScramException("a SCRAM message is not UTF-8");
    }
  }

  /** The value of the attribute that must stand at an index of a message split at its commas. */
  static String attribute(String[] parts, int index, char name) throws ScramException {
    if (index >= parts.length
        || parts[index].length() < 2
        || parts[index].charAt(0) != name
        || parts[index].charAt(1) != '=') {
      throw new ScramException("a SCRAM message has no " + name + "= where it belongs");
    }
    return parts[index].substring(2);
  }
}
