package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.jms.JMSException;
import java.beans.BeanInfo;
import java.beans.Introspector;
import java.beans.PropertyDescriptor;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The factory as a bean, as containers see it. */
class FactoryOptionsTest {
  private static Map<String, PropertyDescriptor> beanProperties() throws Exception {
    BeanInfo info = Introspector.getBeanInfo(LightmqConnectionFactory.class, Object.class);
    Map<String, PropertyDescriptor> properties = new HashMap<>();
    for (PropertyDescriptor property : info.getPropertyDescriptors()) {
      properties.put(property.getName(), property);
    }
    return properties;
  }

  /** A value of the property's type that is not its default. */
  private static Object sample(PropertyDescriptor property) {
    Class<?> type = property.getPropertyType();
    if (type == boolean.class) {
      return !property.getName().equals("failover");
    }
    if (type == int.class || type == long.class) {
      return type == int.class ? (Object) 1_234 : 1_234L;
    }
    if (type == double.class) {
      return 1.5;
    }
    return switch (property.getName()) {
      case "jmsxProperties" -> "JMSXUserID,JMSXRcvTimestamp";
      case "semantics" -> "at-most-once";
      default -> "text";
    };
  }

  @Test
  void everyOptionIsABeanPropertyThatGivesBackWhatWasSet() throws Exception {
    Map<String, PropertyDescriptor> properties = beanProperties();
    for (String option : FactoryOptions.optionNames()) {
      PropertyDescriptor property = properties.get(option);
      assertThat(property).as("bean property of the option " + option).isNotNull();
      LightmqConnectionFactory factory = new LightmqConnectionFactory();
      Object value = sample(property);
      property.getWriteMethod().invoke(factory, value);
      if (option.equals("password")) {
        assertThat(property.getReadMethod()).as("a password is not given out").isNull();
        assertThat(factory).isNotEqualTo(new LightmqConnectionFactory());
      } else {
        assertThat(property.getReadMethod().invoke(factory)).as(option).isEqualTo(value);
        assertThat(factory.getOptions()).isEqualTo(Map.of(option, String.valueOf(value)));
      }
    }
  }

  @Test
  void everyBeanPropertyIsAnOptionOrKnownHere() throws Exception {
    Set<String> others = new TreeSet<>(beanProperties().keySet());
    others.removeAll(FactoryOptions.optionNames());
    assertThat(others)
        .containsExactlyInAnyOrder(
            "uri",
            "options",
            "clientID",
            "initialReconnectDelay",
            "maxReconnectDelay",
            "reference");
  }

  @Test
  void everyOptionCanBeSetAsText() throws Exception {
    for (PropertyDescriptor property : beanProperties().values()) {
      if (FactoryOptions.optionNames().contains(property.getName())) {
        LightmqConnectionFactory typed = new LightmqConnectionFactory();
        property.getWriteMethod().invoke(typed, sample(property));
        LightmqConnectionFactory text = new LightmqConnectionFactory();
        text.setOption(
            property.getName().toUpperCase(Locale.ROOT), String.valueOf(sample(property)));
        assertThat(text).isEqualTo(typed).hasSameHashCodeAs(typed);
      }
    }
  }

  @Test
  void theOrderOfSettersMakesNoDifference() {
    LightmqConnectionFactory one = new LightmqConnectionFactory();
    one.setKeep(true);
    one.setPrefetchMessages(3);
    one.setUri("lightmq:mem:x?prefetchMessages=9&parkMillis=7");
    LightmqConnectionFactory other = new LightmqConnectionFactory();
    other.setUri("lightmq:mem:x?prefetchMessages=9&parkMillis=7");
    other.setPrefetchMessages(3);
    other.setKeep(true);
    assertThat(one).isEqualTo(other).hasSameHashCodeAs(other);
    assertThat(one.getPrefetchMessages()).isEqualTo(3);
    assertThat(one.getParkMillis()).isEqualTo(7);
    one.setOption("prefetchMessages", null);
    assertThat(one.getPrefetchMessages()).isEqualTo(1_000);
    one.setUri("lightmq:mem:x");
    assertThat(one.getParkMillis()).isEqualTo(500);
    assertThat(one.isKeep()).isTrue();
  }

  @Test
  void whatDoesNotFitToTheUriIsRefusedWhenConnecting() {
    LightmqConnectionFactory factory = new LightmqConnectionFactory("lightmq://127.0.0.1:1");
    factory.setKeep(true);
    assertThatThrownBy(factory::createConnection)
        .isInstanceOf(JMSException.class)
        .hasMessageContaining("keep");
  }

  @Test
  void aWrongOptionAmongSeveralChangesNothing() {
    LightmqConnectionFactory factory = new LightmqConnectionFactory();
    assertThatThrownBy(
            () -> factory.setOptions(Map.of("prefetchMessages", "1", "parkMillis", "never")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> factory.setOptions(Map.of("prefetchMessages", "1", "x", "y")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> factory.setReconnectAttempts(-2))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> factory.setOption("referencePassword", "perhaps"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(factory).isEqualTo(new LightmqConnectionFactory());
  }

  @Test
  void factoriesDifferByUriOptionsAndPassword() {
    LightmqConnectionFactory factory = new LightmqConnectionFactory("lightmq://h:1", "a", "b");
    assertThat(factory)
        .isEqualTo(new LightmqConnectionFactory("lightmq://h:1?user=a&password=b"))
        .hasSameHashCodeAs(new LightmqConnectionFactory("lightmq://h:1?user=a&password=b"))
        .isNotEqualTo(new LightmqConnectionFactory("lightmq://h:2", "a", "b"))
        .isNotEqualTo(new LightmqConnectionFactory("lightmq://h:1", "x", "b"))
        .isNotEqualTo(new LightmqConnectionFactory("lightmq://h:1", "a", "x"))
        .isNotEqualTo("lightmq://h:1");
    assertThat(factory.toString()).isEqualTo("LightmqConnectionFactory[lightmq://h:1 {user=a}]");
  }

  @Test
  void reconnectingIsSetUpUnderTheNamesOfOtherProvidersToo() {
    LightmqConnectionFactory theirs =
        new LightmqConnectionFactory(
            "failover:(lightmq://a:1,lightmq://b)?initialReconnectDelay=7&maxReconnectDelay=900"
                + "&maxReconnectAttempts=5&startupMaxReconnectAttempts=3&reconnectDelayExponent=1.5"
                + "&randomize=true");
    assertThat(theirs)
        .isEqualTo(
            new LightmqConnectionFactory(
                "lightmq://a:1,b?reconnectDelayMillis=7&maxReconnectDelayMillis=900"
                    + "&reconnectAttempts=5&initialReconnectAttempts=3"
                    + "&reconnectBackOffMultiplier=1.5&randomize=true"));
    assertThat(theirs.getReconnectBackOffMultiplier()).isEqualTo(1.5);
    assertThat(theirs.getInitialReconnectDelay()).isEqualTo(theirs.getReconnectDelayMillis());
    LightmqConnectionFactory bean = new LightmqConnectionFactory("lightmq://a:1,b");
    bean.setInitialReconnectDelay(7);
    bean.setMaxReconnectDelay(900);
    assertThat(bean.getReconnectDelayMillis()).isEqualTo(7);
    assertThat(bean.getMaxReconnectDelayMillis()).isEqualTo(900);
    assertThatThrownBy(() -> bean.setOption("initialReconectDelay", "1"))
        .hasMessageEndingWith("did you mean initialReconnectDelay?");
    assertThatThrownBy(
            () ->
                new LightmqConnectionFactory(
                    "lightmq://a?reconnectDelayMillis=1&initialReconnectDelay=2"))
        .hasMessageContaining("reconnectDelayMillis is given twice");
  }

  @Test
  void aMultiplierIsANumberOfAtLeastOne() {
    LightmqConnectionFactory factory = new LightmqConnectionFactory();
    for (String wrong : List.of("0.9", "-1", "NaN", "Infinity", "1001")) {
      assertThatThrownBy(() -> factory.setOption("reconnectBackOffMultiplier", wrong))
          .hasMessageContaining("1 to 1000, not " + wrong);
    }
    assertThatThrownBy(() -> factory.setOption("reconnectBackOffMultiplier", "two"))
        .hasMessageContaining("'two'");
    assertThat(factory.getReconnectBackOffMultiplier()).isEqualTo(2);
  }

  @Test
  void thePieceOfAPasswordBehindAnAmpersandIsNotShown() {
    for (String uri :
        List.of(
            "lightmq://h?user=a&password=begin&SECRET=tail",
            "lightmq://h?password=begin&SECRET",
            "lightmq:mem?password=begin&SE=CRET&x")) {
      assertThatThrownBy(() -> new LightmqConnectionFactory(uri))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("%26")
          .message()
          .doesNotContain("SE", "CRET", "tail", "begin");
    }
  }

  @Test
  void aWrongValueIsToldUnderTheNameThatWasWritten() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new LightmqConnectionFactory("lightmq://a?initialReconnectDelay=0"))
        .withMessageContaining("option initialReconnectDelay");
    LightmqConnectionFactory factory = new LightmqConnectionFactory();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> factory.setOption("maxReconnectDelay", "0"))
        .withMessageContaining("option maxReconnectDelay ");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> factory.setInitialReconnectDelay(0))
        .withMessageContaining("option initialReconnectDelay");
  }

  @Test
  void aNumberThatIsTooLargeForAnyNumberIsOutOfRange() {
    LightmqConnectionFactory factory = new LightmqConnectionFactory();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> factory.setOption("prefetchMessages", "99999999999999999999"))
        .withMessageContaining(" to ")
        .withMessageContaining("not 99999999999999999999");
  }

  @Test
  void aLongNameOrValueIsToldInPart() {
    LightmqConnectionFactory factory = new LightmqConnectionFactory();
    String text = "x".repeat(100_000);
    for (String option : java.util.List.of(text, "prefetchMessages", "failover", "semantics")) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> factory.setOption(option, text))
          .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(2_000));
    }
  }
}
