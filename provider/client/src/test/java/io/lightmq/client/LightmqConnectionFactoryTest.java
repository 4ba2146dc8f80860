package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.link.ClientUri;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import javax.naming.RefAddr;
import javax.naming.Reference;
import javax.naming.Referenceable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LightmqConnectionFactoryTest {
  private static Object throughReference(Referenceable object) throws Exception {
    Reference reference = object.getReference();
    return new LightmqObjectFactory().getObjectInstance(reference, null, null, null);
  }

  private static byte[] serialised(Serializable object) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(object);
    }
    return bytes.toByteArray();
  }

  private static Object throughSerialisation(Serializable object) throws Exception {
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(serialised(object)))) {
      return in.readObject();
    }
  }

  @Test
  void aUriWithHostsAndOptionsIsTakenApart() {
    ClientUri uri = ClientUri.parse("lightmq://one:1,[::1]:2,three?user=a%20b&clientId=c+d");
    assertThat(uri.hosts())
        .extracting(ClientUri.HostPort::toString)
        .containsExactly("one:1", "[::1]:2", "three:7654");
    assertThat(uri.options()).containsEntry("user", "a b").containsEntry("clientId", "c+d");
  }

  @Test
  void theEmbeddedFormsAreTakenApart() {
    assertThat(ClientUri.parse("lightmq:mem").path()).isEqualTo("default");
    assertThat(ClientUri.parse("lightmq:mem:x").path()).isEqualTo("x");
    assertThat(ClientUri.parse("lightmq:file:/var/lib/a%20b").path()).isEqualTo("/var/lib/a b");
    assertThat(ClientUri.parse("lightmq:file:dir?keep=true").options()).containsKey("keep");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tcp://host",
        "lightmq://",
        "lightmq://host:0",
        "lightmq://host:x",
        "lightmq://host:70000",
        "lightmq:file:",
        "lightmq://a,,b",
        "lightmq://host?novalue",
        "lightmq://host?keep=true",
        "lightmq://host?failover=maybe",
        "lightmq://host?prefetchMessages=-1",
        "lightmq://host?prefetchMessages=many",
        "lightmq://host?clientId=a&clientID=b"
      })
  void aWrongUriIsRefusedWithItsReason(String uri) {
    assertThatThrownBy(() -> new LightmqConnectionFactory(uri))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching("(?s).{15,}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "lightmq://admin:S3cret@host",
        "lightmq://admin:S3cret@host:7654?clientId=c",
        "lightmq://one,admin:S3cret@two",
        "lightmqs://S3cret@host",
        "lightmq://admin:x?S3cret@host",
        "lightmq://admin:S3cret?x=@host",
        "lightmq://host?user=admin&password=x&S3cret",
        "tcp://admin:S3cret@host"
      })
  void aPasswordWhereNoneBelongsIsRefusedWithoutBeingRepeated(String uri) {
    assertThatThrownBy(() -> new LightmqConnectionFactory(uri))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("S3cret")
        .hasNoCause();
  }

  @Test
  void userInfoNamesTheOptionsToUse() {
    assertThatThrownBy(() -> new LightmqConnectionFactory("lightmq://admin:S3cret@host"))
        .hasMessageContaining("?user=…&password=…");
    assertThat(ClientUri.parse("lightmq://host?user=a@b").options()).containsEntry("user", "a@b");
    assertThat(ClientUri.parse("lightmq:file:///a@b").path()).isEqualTo("///a@b");
  }

  @Test
  void aMissingUriIsSaidToBeMissing() {
    String missing = System.getProperty("no.such.property");
    assertThatThrownBy(() -> new LightmqConnectionFactory(missing))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the URI is null")
        .hasMessageContaining("lightmq://");
  }

  @ParameterizedTest
  @CsvSource({
    "prefetchMessage,prefetchMessages",
    "clietnId,clientId",
    "sendTimeout,sendTimeoutMillis",
    "trustedPackage,trustedPackages",
    "passwrod,password"
  })
  void anUnknownOptionNamesTheNearestOne(String wrong, String near) {
    assertThatThrownBy(() -> new LightmqConnectionFactory("lightmq://host?" + wrong + "=1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("did you mean " + near + "?");
  }

  @Test
  void anOptionThatIsLikeNoneListsThemAll() {
    assertThatThrownBy(() -> new LightmqConnectionFactory("lightmq://host?zzzzzzzz=1"))
        .hasMessageContaining("batchBytes")
        .hasMessageContaining("user");
  }

  @Test
  void aWrongSetterLeavesTheFactoryAsItWas() {
    LightmqConnectionFactory factory = new LightmqConnectionFactory();
    factory.setOption("prefetchMessages", "7");
    assertThatThrownBy(() -> factory.setOption("prefetchMessages", "-7"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(factory.getOptions()).containsEntry("prefetchMessages", "7");
    factory.setOption("prefetchMessages", null);
    assertThat(factory.getOptions()).isEmpty();
  }

  @Test
  void thePasswordIsNeitherInTextNorReferenceNorSerialisedForm() throws Exception {
    LightmqConnectionFactory factory =
        new LightmqConnectionFactory("lightmq://host?user=anna&password=s3cr3t&clientId=c");
    assertThat(factory.toString()).contains("anna").doesNotContain("s3cr3t");
    List<RefAddr> addresses = Collections.list(factory.getReference().getAll());
    assertThat(addresses).extracting(RefAddr::getType).doesNotContain("password");
    assertThat(addresses).extracting(a -> a.getContent().toString()).doesNotContain("s3cr3t");
    assertThat(new String(serialised(factory), StandardCharsets.ISO_8859_1))
        .doesNotContain("s3cr3t");
    assertThat(ClientUri.parse("lightmq://host?password=s3cr3t").toString())
        .doesNotContain("s3cr3t");
  }

  @Test
  void factoriesComeBackFromReferenceAndSerialisation() throws Exception {
    LightmqConnectionFactory factory =
        new LightmqConnectionFactory("lightmq://one:1,two:2?user=anna&prefetchMessages=5");
    for (Object again : List.of(throughReference(factory), throughSerialisation(factory))) {
      LightmqConnectionFactory copy = (LightmqConnectionFactory) again;
      assertThat(copy.getUri()).isEqualTo("lightmq://one:1,two:2");
      assertThat(copy.getOptions()).isEqualTo(factory.getOptions());
    }
  }

  @Test
  void destinationsComeBackFromReferenceAndSerialisation() throws Exception {
    LightmqQueue queue = new LightmqQueue("a queue");
    LightmqTopic topic = new LightmqTopic("a queue");
    assertThat(throughReference(queue)).isEqualTo(queue).hasSameHashCodeAs(queue);
    assertThat(throughReference(topic)).isEqualTo(topic).isNotEqualTo(queue);
    assertThat(throughSerialisation(queue)).isEqualTo(queue);
    assertThat(throughSerialisation(topic)).isEqualTo(topic);
    assertThat(queue).hasToString("a queue");
  }

  @Test
  void namesThatNoDestinationCanHaveAreRefused() {
    assertThatThrownBy(() -> new LightmqQueue("")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new LightmqTopic("a\nb")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new LightmqQueue("x".repeat(513)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void otherReferencesAreLeftToOtherFactories() throws Exception {
    LightmqObjectFactory factory = new LightmqObjectFactory();
    assertThat(factory.getObjectInstance("text", null, null, null)).isNull();
    assertThat(factory.getObjectInstance(new Reference("x.Y"), null, null, null)).isNull();
  }
}
