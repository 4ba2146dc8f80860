package io.lightmq.jndi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.client.LightmqQueue;
import io.lightmq.client.LightmqTopic;
import java.util.Collections;
import java.util.Hashtable;
import javax.naming.Binding;
import javax.naming.CompositeName;
import javax.naming.Context;
import javax.naming.InitialContext;
import javax.naming.NameClassPair;
import javax.naming.NameNotFoundException;
import javax.naming.NamingException;
import javax.naming.NotContextException;
import org.junit.jupiter.api.Test;

@SuppressWarnings("BanJNDI") // naming is what is tested
class LightmqInitialContextFactoryTest {
  private static Context context(String... pairs) throws NamingException {
    Hashtable<String, String> environment = new Hashtable<>();
    environment.put(Context.INITIAL_CONTEXT_FACTORY, LightmqInitialContextFactory.class.getName());
    for (int i = 0; i < pairs.length; i += 2) {
      environment.put(pairs[i], pairs[i + 1]);
    }
    return new InitialContext(environment);
  }

  private static Context sample() throws NamingException {
    return context(
        "connectionFactory.billing", "lightmq://host:1?clientId=b",
        "queue.orders", "shop.orders",
        "queue.jms/archive", "shop.archive",
        "topic.jms/news", "shop.news");
  }

  @Test
  void factoriesQueuesAndTopicsAreBoundByProperties() throws Exception {
    Context context = sample();
    LightmqConnectionFactory factory = (LightmqConnectionFactory) context.lookup("billing");
    assertThat(factory.getUri()).isEqualTo("lightmq://host:1");
    assertThat(factory.getClientId()).isEqualTo("b");
    assertThat(context.lookup("orders")).isEqualTo(new LightmqQueue("shop.orders"));
    assertThat(context.lookup("jms/news")).isEqualTo(new LightmqTopic("shop.news"));
    assertThat(context.lookup(new CompositeName("jms/archive")))
        .isEqualTo(new LightmqQueue("shop.archive"));
    assertThat(context.lookup("java:comp/env/orders")).isEqualTo(new LightmqQueue("shop.orders"));
    context.close();
  }

  @Test
  void dynamicNamesNeedNoProperty() throws Exception {
    assertThat(context().lookup("dynamicQueues/a/b")).isEqualTo(new LightmqQueue("a/b"));
    assertThat(context().lookup("dynamicTopics/t")).isEqualTo(new LightmqTopic("t"));
  }

  @Test
  void theDefaultFactoryComesFromTheProviderUrl() throws Exception {
    LightmqConnectionFactory factory =
        (LightmqConnectionFactory)
            context(
                    Context.PROVIDER_URL,
                    "lightmq:mem:x",
                    Context.SECURITY_PRINCIPAL,
                    "anna",
                    Context.SECURITY_CREDENTIALS,
                    "secret")
                .lookup("ConnectionFactory");
    assertThat(factory.getUri()).isEqualTo("lightmq:mem:x");
    assertThat(factory.getUser()).isEqualTo("anna");
    assertThat(((LightmqConnectionFactory) context().lookup("ConnectionFactory")).getUri())
        .isEqualTo(LightmqConnectionFactory.DEFAULT_URI);
  }

  @Test
  void subcontextsAreListed() throws Exception {
    Context context = sample();
    assertThat(Collections.list(context.list("")))
        .extracting(NameClassPair::getName)
        .containsExactly(
            "ConnectionFactory",
            "QueueConnectionFactory",
            "TopicConnectionFactory",
            "XAConnectionFactory",
            "billing",
            "dynamicQueues",
            "dynamicTopics",
            "jms",
            "orders");
    assertThat(Collections.list(context.listBindings("jms")))
        .extracting(Binding::getObject)
        .containsExactly(new LightmqQueue("shop.archive"), new LightmqTopic("shop.news"));
    Context jms = (Context) context.lookup("jms");
    assertThat(jms.lookup("news")).isEqualTo(new LightmqTopic("shop.news"));
    assertThat(jms.getNameInNamespace()).isEqualTo("jms");
    assertThatThrownBy(() -> context.list("orders")).isInstanceOf(NotContextException.class);
  }

  @Test
  void anUnknownNameTellsNearOnes() throws Exception {
    Context context = sample();
    assertThatThrownBy(() -> context.lookup("odrers"))
        .isInstanceOf(NameNotFoundException.class)
        .hasMessageContaining("did you mean orders?")
        .hasMessageContaining("dynamicQueues/odrers");
    assertThat(context.lookup("dynamicQueues/")).isInstanceOf(Context.class);
  }

  @Test
  void aWrongPropertyIsNamed() {
    assertThatThrownBy(() -> context("connectionFactory.x", "lightmq://h?prefetchMessage=1"))
        .isInstanceOf(NamingException.class)
        .hasMessageContaining("connectionFactory.x")
        .hasMessageContaining("prefetchMessages");
  }

  @Test
  void theEnvironmentIsACopy() throws Exception {
    Context context = (Context) sample().lookup("");
    context.addToEnvironment("a", "b");
    assertThat(context.getEnvironment().get("a")).isEqualTo("b");
    assertThat(context.removeFromEnvironment("a")).isEqualTo("b");
    assertThat(context.composeName("news", "jms")).isEqualTo("jms/news");
    assertThat(context.getNameParser("").parse("a/b").size()).isEqualTo(2);
  }
}
