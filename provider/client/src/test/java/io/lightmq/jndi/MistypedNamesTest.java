package io.lightmq.jndi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Hashtable;
import javax.naming.Context;
import javax.naming.InitialContext;
import javax.naming.NameNotFoundException;
import javax.naming.NamingException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is mistyped in a naming file or in a lookup is named with what it was meant to be. */
@SuppressWarnings("BanJNDI") // naming is what is tested
class MistypedNamesTest {
  private static Context context(String... pairs) throws NamingException {
    Hashtable<String, String> environment = new Hashtable<>();
    environment.put(Context.INITIAL_CONTEXT_FACTORY, LightmqInitialContextFactory.class.getName());
    for (int i = 0; i < pairs.length; i += 2) {
      environment.put(pairs[i], pairs[i + 1]);
    }
    return new InitialContext(environment);
  }

  @ParameterizedTest
  @CsvSource({
    "jms/order, jms/orders",
    "jsm/orders, jms/orders",
    "jms/a/depe, jms/a/deep",
    "ordres, orders",
    "jms/CFF, jms/CF"
  })
  void aNameIsToldInFull(String asked, String bound) throws Exception {
    Context context =
        context(
            "queue.jms/orders", "o",
            "queue.orders", "o",
            "topic.jms/a/deep", "t",
            "connectionFactory.jms/CF", "lightmq://h");
    assertThat(context.lookup(bound)).isNotNull();
    assertThatThrownBy(() -> context.lookup(asked))
        .isInstanceOf(NameNotFoundException.class)
        .hasMessageContaining("'" + asked + "' is not bound")
        .hasMessageMatching(".*did you mean ([^?]*, )?" + bound + "[?,].*");
  }

  @ParameterizedTest
  @CsvSource({
    "conectionFactory.CF, connectionFactory.CF",
    "connectionFactry.CF, connectionFactory.CF",
    "qeue.orders, queue.orders",
    "queues.orders, queue.orders",
    "topc.news, topic.news",
    "destinaton.orders, destination.orders",
    "conectionFactoryNames, connectionFactoryNames",
    "property.conectionfactory.CF.prefetchMessages, property.connectionFactory.CF.prefetchMessages",
    "default.conectionfactory.prefetchMessages, default.connectionFactory.prefetchMessages",
    "propery.connectionfactory.CF.prefetchMessages, property.connectionFactory.CF.prefetchMessages",
    "brokerUrll, brokerUrl"
  })
  void aMistypedKeyIsNamedWithItsNearest(String key, String nearest) {
    assertThatThrownBy(() -> context(key, "queue:o"))
        .isInstanceOf(NamingException.class)
        .hasMessageContaining("property " + key + " ")
        .hasMessageContaining("the nearest is " + nearest);
  }

  @ParameterizedTest
  @CsvSource({
    "property.connectionfactory.CF.prefetchMesages",
    "default.connectionfactory.prefetchMesages",
    "connection.CF.prefetchMesages"
  })
  void aMistypedOptionIsNamedWithItsNearest(String key) {
    assertThatThrownBy(() -> context("connectionfactory.CF", "lightmq://h", key, "5"))
        .isInstanceOf(NamingException.class)
        .hasMessageContaining("property " + key)
        .hasMessageContaining("prefetchMessages");
  }

  @Test
  void keysOfOthersAreNobodysMistake() throws Exception {
    assertThat(
            context(
                "java.naming.security.authentication", "none",
                "query.timeout", "1",
                "quote.char", "x",
                "logic.x", "y",
                "connection.timeout", "5",
                "destinationResolver.x", "y",
                "default.x", "y",
                "user.home", "/root"))
        .isNotNull();
  }

  @Test
  void aNamingFileThatIsNotThereIsSaidNotToBe() {
    assertThatThrownBy(() -> context(Context.PROVIDER_URL, "file:/nowhere/jndi.properties"))
        .isInstanceOf(NamingException.class)
        .hasMessageContaining("there is no naming file /nowhere/jndi.properties")
        .hasMessageNotContaining("Exception");
    assertThatThrownBy(() -> context(Context.PROVIDER_URL, "classpath:nowhere.properties"))
        .hasMessageContaining("no such resource on the class path")
        .hasMessageNotContaining("Exception");
  }
}
