package io.lightmq.wire.scram;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The broker's side of one exchange: {@link #start}, {@link #challenge}, {@link #finish}, in this
 * order. An unknown user gets a challenge like everyone else, always the same salt, and fails at
 * the end with the same text as a wrong password.
 */
public final class ScramServer {
  /** Says why somebody is refused, and not whether his name is known. */
  public static final String REFUSED = "user unknown or password wrong";

  private final byte[] unknownUserKey;
  private final int unknownUserIterations;
  private final String serverNonce;
  private String gs2Header = "";
  private String clientFirstBare = "";
  private String userName = "";
  private String bothNonces = "";
  private String serverFirst = "";
  private @Nullable ScramCredential credential;

  /**
   * An exchange.
   *
   * @param unknownUserKey a secret of this broker from which salts for unknown users are derived;
   *     it must survive a restart, or those salts give themselves away by changing
   * @param unknownUserIterations what new credentials have
   */
  public ScramServer(byte[] unknownUserKey, int unknownUserIterations, SecureRandom random) {
    this(unknownUserKey, unknownUserIterations, Scram.nonce(random));
  }

  ScramServer(byte[] unknownUserKey, int unknownUserIterations, String serverNonce) {
    this.unknownUserKey = unknownUserKey;
    this.unknownUserIterations = unknownUserIterations;
    this.serverNonce = serverNonce;
  }

  /** Takes the data of {@code AuthStart} and returns the user's name, to look it up. */
  public String start(byte[] clientFirst) throws ScramException {
    String[] parts = Scram.text(clientFirst).split(",", -1);
    if (parts.length < 4 || !(parts[0].equals("n") || parts[0].equals("y"))) {
      throw new ScramException("channel binding is not supported: begin with n,,");
    }
    if (!parts[1].isEmpty()) {
      throw new ScramException("acting for another user is not supported");
    }
    gs2Header = parts[0] + ",,";
    userName = Scram.normalize(unescape(Scram.attribute(parts, 2, 'n')));
    String clientNonce = Scram.attribute(parts, 3, 'r');
    if (userName.isEmpty() || clientNonce.isEmpty()) {
      throw new ScramException("user name or nonce is empty");
    }
    clientFirstBare = String.join(",", Arrays.copyOfRange(parts, 2, parts.length));
    bothNonces = clientNonce + serverNonce;
    return userName;
  }

  /** The user's name, after {@link #start}. */
  public String userName() {
    return userName;
  }

  /** The challenge for a user with a credential, or for one who is unknown. */
  public byte[] challenge(@Nullable ScramCredential found) {
    byte[] salt;
    int iterations;
    if (found == null) {
      salt = Arrays.copyOf(Scram.hmac(unknownUserKey, userName), 16);
      iterations = unknownUserIterations;
    } else {
      salt = found.salt();
      iterations = found.iterations();
    }
    credential = found;
    serverFirst = "r=" + bothNonces + ",s=" + Scram.base64(salt) + ",i=" + iterations;
    return serverFirst.getBytes(UTF_8);
  }

  /**
   * Checks the data of {@code AuthResponse} and returns that of {@code AuthDone}.
   *
   * @throws ScramException if the user is unknown or the password wrong, without saying which
   */
  public byte[] finish(byte[] response) throws ScramException {
    if (serverFirst.isEmpty()) {
      throw new ScramException("a response before its challenge");
    }
    String text = Scram.text(response);
    String[] parts = text.split(",", -1);
    byte[] binding = Scram.fromBase64(Scram.attribute(parts, 0, 'c'));
    String nonces = Scram.attribute(parts, 1, 'r');
    byte[] proof = Scram.fromBase64(Scram.attribute(parts, parts.length - 1, 'p'));
    if (!Arrays.equals(binding, gs2Header.getBytes(UTF_8)) || !nonces.equals(bothNonces)) {
      throw new ScramException("the response does not belong to this exchange");
    }
    if (proof.length != Scram.HASH_BYTES) {
      throw new ScramException("a proof has 32 bytes, not " + proof.length);
    }
    String authMessage =
        clientFirstBare + "," + serverFirst + "," + text.substring(0, text.lastIndexOf(",p="));
    // The same steps for unknown users, so that time does not tell them from wrong passwords.
    byte[] storedKey = credential == null ? Scram.hash(unknownUserKey) : credential.storedKey();
    byte[] serverKey = credential == null ? storedKey : credential.serverKey();
    byte[] clientKey = Scram.xor(proof, Scram.hmac(storedKey, authMessage));
    boolean proven = MessageDigest.isEqual(storedKey, Scram.hash(clientKey));
    byte[] signature = Scram.hmac(serverKey, authMessage);
    if (!proven || credential == null) {
      throw new ScramException(REFUSED);
    }
    return ("v=" + Scram.base64(signature)).getBytes(UTF_8);
  }

  private static String unescape(String name) throws ScramException {
    String unescaped = name.replace("=2C", ",").replace("=3D", "=");
    if (name.replace("=2C", "").replace("=3D", "").indexOf('=') >= 0) {
      throw new ScramException("a user name has = only as =2C or =3D");
    }
    return unescaped;
  }
}
