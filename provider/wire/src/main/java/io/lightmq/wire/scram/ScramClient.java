package io.lightmq.wire.scram;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lightmq.wire.entry.Printable;
import java.security.MessageDigest;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of one exchange: {@link #first}, {@link #respond}, {@link #verify}, in this
 * order. Computing the response takes some milliseconds.
 */
public final class ScramClient {
  /** The mechanism's name in {@code AuthStart}. */
  public static final String MECHANISM = "SCRAM-SHA-256";

  private static final String GS2_HEADER = "n,,";

  private final String password;
  private final String nonce;
  private final String firstBare;
  private byte @Nullable [] serverSignature;

  /** An exchange for a user. */
  public ScramClient(String user, String password, SecureRandom random) {
    this(user, password, Scram.nonce(random));
  }

  ScramClient(String user, String password, String nonce) {
    this.password = password;
    this.nonce = nonce;
    String name = Scram.normalize(user).replace("=", "=3D").replace(",", "=2C");
    this.firstBare = "n=" + name + ",r=" + nonce;
  }

  /** The data of {@code AuthStart}. */
  public byte[] first() {
    return (GS2_HEADER + firstBare).getBytes(UTF_8);
  }

  /**
   * The answer to the broker's challenge.
   *
   * @throws ScramException if the challenge is not one, or asks for too few or too many iterations
   */
  public byte[] respond(byte[] challenge) throws ScramException {
    String serverFirst = Scram.text(challenge);
    String[] parts = serverFirst.split(",", -1);
    String bothNonces = Scram.attribute(parts, 0, 'r');
    byte[] salt = Scram.fromBase64(Scram.attribute(parts, 1, 's'));
    int iterations = iterations(Scram.attribute(parts, 2, 'i'));
    if (!bothNonces.startsWith(nonce) || bothNonces.length() == nonce.length()) {
      throw new ScramException("the broker's nonce does not continue the client's");
    }
    String finalBare = "c=" + Scram.base64(GS2_HEADER.getBytes(UTF_8)) + ",r=" + bothNonces;
    String authMessage = firstBare + "," + serverFirst + "," + finalBare;
    byte[] salted = Scram.saltedPassword(password, salt, iterations);
    byte[] clientKey = Scram.clientKey(salted);
    byte[] signature = Scram.hmac(Scram.hash(clientKey), authMessage);
    serverSignature = Scram.hmac(Scram.serverKey(salted), authMessage);
    return (finalBare + ",p=" + Scram.base64(Scram.xor(clientKey, signature))).getBytes(UTF_8);
  }

  /**
   * Checks the data of {@code AuthDone}: only who knows the user's credential can have made it.
   *
   * @throws ScramException if the broker does not
   */
  public void verify(byte[] done) throws ScramException {
    byte[] expected = serverSignature;
    if (expected == null) {
      throw new ScramException("the broker ended the exchange before its challenge");
    }
    byte[] actual = Scram.fromBase64(Scram.attribute(Scram.text(done).split(",", -1), 0, 'v'));
    if (!MessageDigest.isEqual(expected, actual)) {
      throw new ScramException("the broker does not know this user's password");
    }
  }

  private static int iterations(String text) throws ScramException {
    int iterations;
    try {
      iterations = Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new ScramException("the broker asks for " + Printable.of(text) + " iterations");
    }
    if (iterations < ScramCredential.MIN_ITERATIONS
        || iterations > ScramCredential.MAX_ITERATIONS) {
      throw new ScramException(
          "the broker asks for "
              + iterations
              + " iterations; accepted are "
              + ScramCredential.MIN_ITERATIONS
              + " to "
              + ScramCredential.MAX_ITERATIONS);
    }
    return iterations;
  }
}
