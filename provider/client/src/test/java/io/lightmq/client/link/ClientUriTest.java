package io.lightmq.client.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a URI that was mistyped is answered with. */
class ClientUriTest {
  @ParameterizedTest
  @CsvSource({
    "tcp://h:61616, lightmq://h:61616",
    "TCP://h, lightmq://h",
    "lihgtmq://h:1, lightmq://h:1",
    "lightmq:mm, lightmq:mem",
    "lightmq:mm:a, lightmq:mem:a",
    "lightmq:fil:/data, lightmq:file:/data",
    "127.0.0.1:17654, lightmq://127.0.0.1:17654",
    "lightmq:h:7654, lightmq://h:7654",
    "localhost, lightmq://localhost",
    "mem:a, lightmq:mem:a"
  })
  void anotherFormIsAnsweredWithTheNearest(String uri, String nearest) {
    assertThatThrownBy(() -> ClientUri.parse(uri))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + uri + "'")
        .hasMessageEndingWith("; write " + nearest);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"lightmq://h:7654 ", " lightmq://h:7654", "lightmq:mem:a ", "lightmq://h\n"})
  void aBlankAtAnEndIsNamed(String uri) {
    assertThatThrownBy(() -> ClientUri.parse(uri)).hasMessageContaining("a blank");
  }

  @Test
  void aBlankInAnOptionIsNamedWithTheOptionAndWithoutItsValue() {
    assertThatThrownBy(() -> ClientUri.parse("lightmq://h?user=a&password=S3cret "))
        .hasMessageContaining("option password")
        .hasMessageContaining("%20")
        .hasMessageNotContaining("S3cret");
    assertThat(ClientUri.parse("lightmq://h?password=a%20").options()).containsValue("a ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"user=a&user=b", "user=a&User=a", "keep=true&user=b&keep=true"})
  void anOptionThatIsGivenTwiceIsNamed(String options) {
    String name = options.startsWith("user") ? "user" : "keep";
    assertThatThrownBy(() -> ClientUri.parse("lightmq://h?" + options))
        .message()
        .containsIgnoringCase("option " + name + " is given twice");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "lightmq://a:1,b:2",
        "lightmq://a:1,b:2/",
        "lightmq://a:1,lightmq://b:2",
        "failover:(lightmq://a:1,lightmq://b:2)",
        "Failover:(LIGHTMQ://a:1/, lightmq://b:2/)",
        "failover:lightmq://a:1,lightmq://b:2",
        "(lightmq://a:1,b:2)"
      })
  void severalBrokersAreWrittenInAnyOfTheUsualForms(String uri) {
    assertThat(ClientUri.parse(uri).location()).isEqualTo("lightmq://a:1,b:2");
    assertThat(ClientUri.parse(uri + "?clientId=(c)").options()).containsEntry("clientId", "(c)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "failover:(lightmq://a",
        "failover:(lightmq://a?password=S3cret,lightmq://b)",
        "failover:(lightmq://a?password=S3cret)",
        "failover:(lightmq://a)x",
        "failover:(failover:(lightmq://a))",
        "failover:failover:lightmq://a",
        "((lightmq://a))",
        "lightmq://a,lightmqs://b?password=S3cret",
        "failover:",
        "failover:()"
      })
  void aListThatIsNoneIsRefusedWithoutItsSecrets(String uri) {
    assertThatThrownBy(() -> ClientUri.parse(uri))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("S3cret");
  }
}
