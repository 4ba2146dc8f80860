package io.lightmq.wire.scram;

import java.security.SecureRandom;
import java.util.Base64;

/**
 * What a broker stores of a user's password: enough to check it, not to know it.
 *
 * @param salt at least 8 random bytes; not copied
 * @param iterations 4,096 to 200,000
 */
public record ScramCredential(byte[] salt, int iterations, byte[] storedKey, byte[] serverKey) {
  /** The fewest iterations that RFC 7677 allows. */
  public static final int MIN_ITERATIONS = 4_096;

  /** The most iterations that a client is willing to compute. */
  public static final int MAX_ITERATIONS = 200_000;

  /** The iterations of new credentials. */
  public static final int DEFAULT_ITERATIONS = 15_000;

  private static final int SALT_BYTES = 16;
  private static final int MAX_TEXT_CHARS = 1_000;

  public ScramCredential {
    if (salt.length < 8
        || storedKey.length != Scram.HASH_BYTES
        || serverKey.length != Scram.HASH_BYTES) {
      throw new IllegalArgumentException(
          "a credential has a salt of at least 8 bytes and keys of 32; these have "
              + salt.length
              + ", "
              + storedKey.length
              + " and "
              + serverKey.length);
    }
    if (iterations < MIN_ITERATIONS || iterations > MAX_ITERATIONS) {
      throw new IllegalArgumentException(
          "a credential has 4096 to " + MAX_ITERATIONS + " iterations, not " + iterations);
    }
  }

  /** The credential of a new password; takes some milliseconds to compute. */
  public static ScramCredential create(String password, int iterations, SecureRandom random) {
    byte[] salt = new byte[SALT_BYTES];
    random.nextBytes(salt);
    return of(password, salt, iterations);
  }

  /** The credential of a password with a given salt. */
  public static ScramCredential of(String password, byte[] salt, int iterations) {
    byte[] salted = Scram.saltedPassword(password, salt, iterations);
    return new ScramCredential(salt, iterations, Scram.storedKey(salted), Scram.serverKey(salted));
  }

  /** The credential as one text, to be read by {@link #parse}: the four fields behind colons. */
  public String text() {
    return iterations
        + ":"
        + Scram.base64(salt)
        + ":"
        + Scram.base64(storedKey)
        + ":"
        + Scram.base64(serverKey);
  }

  /**
   * Reads {@link #text}.
   *
   * @throws IllegalArgumentException if it is none; the text is a secret and not repeated
   */
  public static ScramCredential parse(String text) {
    String[] fields = text.split(":", -1);
    if (fields.length != 4 || text.length() > MAX_TEXT_CHARS) {
      throw new IllegalArgumentException(
          "a credential has 4 fields and at most "
              + MAX_TEXT_CHARS
              + " characters, not "
              + fields.length
              + " and "
              + text.length());
    }
    try {
      Base64.Decoder base64 = Base64.getDecoder();
      return new ScramCredential(
          base64.decode(fields[1]),
          Integer.parseInt(fields[0]),
          base64.decode(fields[2]),
          base64.decode(fields[3]));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("a credential begins with the number of iterations", e);
    }
  }
}
