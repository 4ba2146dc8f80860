package io.lightmq.jndi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import javax.naming.NamingException;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VariablesTest {
  private final Map<String, String> properties =
      new HashMap<>(
          Map.of(
              "host", "one",
              "port", "7",
              "address", "${host}:${port}",
              "circle", "a${other}",
              "other", "${circle}",
              "empty", ""));

  private final Variables variables = new Variables(properties);

  @ParameterizedTest
  @CsvSource(
      value = {
        "plain|plain",
        "${host}|one",
        "a${host}b${port}c|aoneb7c",
        "lightmq://${address}|lightmq://one:7",
        "${none:-x}|x",
        "${none:-}|''",
        "${empty}|''",
        "${host:-x}|one",
        "${none:-${host}}|one",
        "${none:-${none2:-y}}|y",
        "$${host}|${host}",
        "$$|$$",
        "a$b|a$b",
        "${none:-a:-b}|a:-b",
        "${:-x}|x"
      },
      delimiter = '|')
  void valuesStandInThePlaceOfNames(String value, String expected) throws Exception {
    assertThat(variables.expand("key", value)).isEqualTo(expected);
  }

  @Test
  void systemPropertiesCountMoreThanTheEnvironmentAndThatMoreThanNamingProperties()
      throws Exception {
    properties.put("PATH", "naming");
    properties.put("lightmq.test.variable", "naming");
    System.setProperty("lightmq.test.variable", "system");
    try {
      assertThat(variables.expand("key", "${lightmq.test.variable}")).isEqualTo("system");
    } finally {
      System.clearProperty("lightmq.test.variable");
    }
    assertThat(variables.expand("key", "${lightmq.test.variable}")).isEqualTo("naming");
    assertThat(variables.expand("key", "${PATH}")).isEqualTo(System.getenv("PATH"));
  }

  @Test
  void aMissingVariableIsToldWithItsPropertyAndTheWayOut() {
    assertThatThrownBy(() -> variables.expand("queue.x", "a-${mising}"))
        .isInstanceOf(NamingException.class)
        .hasMessageContaining("property queue.x")
        .hasMessageContaining("'mising'")
        .hasMessageContaining("${mising:-default}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"${circle}", "a ${host", "${none:-${host}", "${}"})
  void whatCannotBePutInIsRefused(String value) {
    assertThatThrownBy(() -> variables.expand("key", value))
        .isInstanceOf(NamingException.class)
        .hasMessageContaining("property key");
  }

  @Test
  void depthAndLengthAreLimited() {
    for (int i = 0; i < 20; i++) {
      properties.put("deep" + i, "${deep" + (i + 1) + "}");
      properties.put("wide" + i, "${wide%d}${wide%d}".formatted(i + 1, i + 1));
    }
    properties.put("deep20", "x");
    properties.put("wide14", "x".repeat(64));
    assertThatThrownBy(() -> variables.expand("key", "${deep0}")).hasMessageContaining("depth");
    assertThatThrownBy(() -> variables.expand("key", "${wide0}"))
        .hasMessageContaining("65536 characters");
  }

  @Property(tries = 2_000)
  void everyTextIsExpandedOrRefusedWithItsProperty(
      @ForAll @StringLength(max = 24) @CharRange(from = 'a', to = 'b') String letters,
      @ForAll @StringLength(max = 24) String any) {
    String value = letters.replace("a", "${").replace("b", "}") + any + "$${:-${host:-}";
    try {
      assertThat(variables.expand("key", value)).doesNotContain("${host");
    } catch (NamingException refused) {
      assertThat(refused).hasMessageContaining("property key");
    }
  }
}
