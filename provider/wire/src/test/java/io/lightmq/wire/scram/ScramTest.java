package io.lightmq.wire.scram;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** The exchange of RFC 7677, and everything that must not pass. */
class ScramTest {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final byte[] KEY =
      "32 bytes that only a broker knows".substring(0, 32).getBytes(UTF_8);

  @Test
  void vectorOfRfc7677() throws Exception {
    ScramClient client = new ScramClient("user", "pencil", "rOprNGfwEbeRWgbNEkqO");
    ScramServer server = new ScramServer(KEY, 4096, "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0");
    ScramCredential credential =
        ScramCredential.of("pencil", Base64.getDecoder().decode("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096);

    byte[] first = client.first();
    assertThat(first).asString(UTF_8).isEqualTo("n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
    assertThat(server.start(first)).isEqualTo("user");
    byte[] challenge = server.challenge(credential);
    assertThat(challenge)
        .asString(UTF_8)
        .isEqualTo(
            "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
                + "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
    byte[] response = client.respond(challenge);
    assertThat(response)
        .asString(UTF_8)
        .isEqualTo(
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
                + "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
    byte[] done = server.finish(response);
    assertThat(done).asString(UTF_8).isEqualTo("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    client.verify(done);
  }

  @Test
  void saltedPasswordIsPbkdf2() {
    // RFC 7914 section 11: PBKDF2-HMAC-SHA-256, P="passwd", S="salt", c=1, first 32 bytes.
    assertThat(HexFormat.of().formatHex(Scram.saltedPassword("passwd", "salt".getBytes(UTF_8), 1)))
        .isEqualTo("55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
  }

  @Test
  void namesWithCommasEqualsAndUmlautsPass() throws Exception {
    ScramCredential credential = ScramCredential.create("pässword, = 2", 4096, RANDOM);
    assertThat(exchange("a=b,c=2Cü", "pässword, = 2", credential)).isEqualTo("a=b,c=2Cü");
  }

  @Test
  void passwordMayBeTypedInEitherUnicodeForm() throws Exception {
    ScramCredential credential = ScramCredential.create("\u00e4", 4096, RANDOM);
    exchange("u", "a\u0308", credential);
  }

  @Test
  void unknownUserAndWrongPasswordFailAlike() throws Exception {
    ScramCredential credential = ScramCredential.create("right", 4096, RANDOM);
    String[] texts = new String[2];
    for (int i = 0; i < 2; i++) {
      ScramCredential found = i == 0 ? null : credential;
      try {
        exchange("user", "wrong", found);
      } catch (ScramException e) {
        texts[i] = e.getMessage();
      }
    }
    assertThat(texts[0]).isEqualTo("user unknown or password wrong").isEqualTo(texts[1]);
  }

  @Test
  void unknownUserHasTheSameSaltEachTime() throws Exception {
    assertThat(saltFor("nobody", KEY)).isEqualTo(saltFor("nobody", KEY));
    assertThat(saltFor("nobody", KEY)).isNotEqualTo(saltFor("somebody", KEY));
    assertThat(saltFor("nobody", KEY)).isNotEqualTo(saltFor("nobody", new byte[] {1}));
  }

  private static String saltFor(String user, byte[] key) throws Exception {
    ScramServer server = new ScramServer(key, 5000, RANDOM);
    server.start(new ScramClient(user, "x", RANDOM).first());
    String challenge = new String(server.challenge(null), UTF_8);
    assertThat(challenge).endsWith(",i=5000");
    return challenge.substring(challenge.indexOf(",s="));
  }

  /** Whoever knows only the derived keys of unknown users must not get in through them. */
  @Test
  void proofForAnUnknownUserNeverPasses() throws Exception {
    ScramServer server = new ScramServer(KEY, 4096, RANDOM);
    server.start(new ScramClient("nobody", "x", "nonce").first());
    String challenge = new String(server.challenge(null), UTF_8);
    String bare = "c=biws,r=" + challenge.substring(2, challenge.indexOf(",s="));
    String authMessage = "n=nobody,r=nonce," + challenge + "," + bare;
    // The stand-in's stored key is the hash of KEY: whoever had KEY would have the client key.
    byte[] proof = Scram.xor(KEY, Scram.hmac(Scram.hash(KEY), authMessage));
    assertThatThrownBy(() -> server.finish((bare + ",p=" + Scram.base64(proof)).getBytes(UTF_8)))
        .isInstanceOf(ScramException.class);
  }

  @Test
  void brokerThatDoesNotKnowThePasswordIsNoticed() throws Exception {
    ScramClient client = new ScramClient("u", "p", RANDOM);
    ScramServer server = new ScramServer(KEY, 4096, RANDOM);
    server.start(client.first());
    client.respond(server.challenge(ScramCredential.create("p", 4096, RANDOM)));
    byte[] forged = ("v=" + Scram.base64(new byte[32])).getBytes(UTF_8);
    assertThatThrownBy(() -> client.verify(forged)).isInstanceOf(ScramException.class);
    assertThatThrownBy(() -> client.verify("e=other-error".getBytes(UTF_8)))
        .isInstanceOf(ScramException.class);
    assertThatThrownBy(() -> new ScramClient("u", "p", RANDOM).verify(forged))
        .isInstanceOf(ScramException.class);
  }

  @Test
  void replayedResponseFailsInAnotherExchange() throws Exception {
    ScramCredential credential = ScramCredential.create("p", 4096, RANDOM);
    ScramClient client = new ScramClient("u", "p", RANDOM);
    ScramServer server = new ScramServer(KEY, 4096, RANDOM);
    server.start(client.first());
    byte[] response = client.respond(server.challenge(credential));
    server.finish(response);
    ScramServer other = new ScramServer(KEY, 4096, RANDOM);
    other.start(client.first());
    other.challenge(credential);
    assertThatThrownBy(() -> other.finish(response)).isInstanceOf(ScramException.class);
  }

  @Test
  void clientRefusesWeakEndlessAndForeignChallenges() {
    for (String challenge :
        new String[] {
          "r=nonceX,s=AAAAAAAAAAA=,i=4095",
          "r=nonceX,s=AAAAAAAAAAA=,i=10000001",
          "r=nonceX,s=AAAAAAAAAAA=,i=many",
          "r=nonce,s=AAAAAAAAAAA=,i=4096",
          "r=otherX,s=AAAAAAAAAAA=,i=4096",
          "r=nonceX,s=?,i=4096",
          "r=nonceX",
          "",
          "\uFFFF"
        }) {
      assertThatThrownBy(
              () -> new ScramClient("u", "p", "nonce").respond(challenge.getBytes(UTF_8)))
          .as(challenge)
          .isInstanceOf(ScramException.class);
    }
  }

  @Test
  void serverRefusesMalformedMessages() throws Exception {
    for (String first :
        new String[] {
          "",
          "n",
          "n,,",
          "n,,n=u",
          "p=tls-unique,,n=u,r=x",
          "n,a=admin,n=u,r=x",
          "n,,n=,r=x",
          "n,,n=u,r=",
          "n,,n=a=b,r=x",
          "n,,r=x,n=u"
        }) {
      assertThatThrownBy(() -> new ScramServer(KEY, 4096, RANDOM).start(first.getBytes(UTF_8)))
          .as(first)
          .isInstanceOf(ScramException.class);
    }
    assertThatThrownBy(
            () -> new ScramServer(KEY, 4096, RANDOM).start(new byte[] {'n', ',', ',', (byte) 0xFF}))
        .isInstanceOf(ScramException.class);
    assertThatThrownBy(() -> new ScramServer(KEY, 4096, RANDOM).start(new byte[9000]))
        .isInstanceOf(ScramException.class)
        .hasMessageContaining("8192");
    ScramServer server = new ScramServer(KEY, 4096, "S");
    assertThatThrownBy(() -> server.finish("c=biws,r=xS,p=AA==".getBytes(UTF_8)))
        .isInstanceOf(ScramException.class);
    server.start("n,,n=u,r=x".getBytes(UTF_8));
    server.challenge(null);
    for (String response :
        new String[] {"", "c=biws", "c=biws,r=xS", "c=biws,r=xS,p=AA==", "c=eSws,r=xS,p=AA=="}) {
      assertThatThrownBy(() -> server.finish(response.getBytes(UTF_8)))
          .as(response)
          .isInstanceOf(ScramException.class);
    }
  }

  @Test
  void credentialsHaveTheirBounds() {
    assertThatThrownBy(() -> ScramCredential.create("p", 4095, RANDOM))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> ScramCredential.create("", 4096, RANDOM))
        .isInstanceOf(IllegalArgumentException.class);
    ScramCredential one = ScramCredential.create("p", 4096, RANDOM);
    ScramCredential two = ScramCredential.create("p", 4096, RANDOM);
    assertThat(one.storedKey()).isNotEqualTo(two.storedKey());
  }

  private static String exchange(String user, String password, ScramCredential credential)
      throws ScramException {
    ScramClient client = new ScramClient(user, password, RANDOM);
    ScramServer server = new ScramServer(KEY, 4096, RANDOM);
    server.start(client.first());
    byte[] done = server.finish(client.respond(server.challenge(credential)));
    client.verify(done);
    return server.userName();
  }
}
