package io.lightmq.jndi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.client.LightmqQueue;
import io.lightmq.client.LightmqTopic;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Hashtable;
import java.util.Properties;
import javax.naming.Context;
import javax.naming.InitialContext;
import javax.naming.NameClassPair;
import javax.naming.NamingException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Naming files as users of ActiveMQ Classic, Artemis and Qpid have them. */
@SuppressWarnings("BanJNDI") // naming is what is tested
class ForeignFilesTest {
  @TempDir Path directory;

  private static Context context(String text) throws NamingException, IOException {
    Properties properties = new Properties();
    properties.load(new StringReader(text));
    Hashtable<Object, Object> environment = new Hashtable<>(properties);
    environment.put(Context.INITIAL_CONTEXT_FACTORY, LightmqInitialContextFactory.class.getName());
    return new InitialContext(environment);
  }

  private static LightmqConnectionFactory factory(Context context, String name)
      throws NamingException {
    return (LightmqConnectionFactory) context.lookup(name);
  }

  @Test
  void aFileForActiveMqClassicWorks() throws Exception {
    Context context =
        context(
            """
            java.naming.provider.url = failover:(tcp://one:61616,tcp://two:61616)?randomize=false
            java.naming.security.principal = system
            java.naming.security.credentials = manager
            connectionFactoryNames = connectionFactory, queueConnectionFactory
            connection.queueConnectionFactory.clientID = billing
            connection.queueConnectionFactory.prefetchPolicy.all = 7
            connection.queueConnectionFactory.brokerURL = tcp://three:1?jms.userName=anna
            queue.MyQueue = example.MyQueue
            topic.MyTopic = topic://example.MyTopic
            """);
    LightmqConnectionFactory first = factory(context, "connectionFactory");
    assertThat(first.getUri()).isEqualTo("lightmq://one:61616,two:61616");
    assertThat(first)
        .isEqualTo(
            new LightmqConnectionFactory(first.getUri() + "?randomize=false", "system", "manager"));
    LightmqConnectionFactory second = factory(context, "queueConnectionFactory");
    assertThat(second.getUri()).isEqualTo("lightmq://three:1");
    assertThat(second.getOptions())
        .containsEntry("clientId", "billing")
        .containsEntry("prefetchMessages", "7")
        .containsEntry("user", "anna")
        .hasSize(3);
    assertThat(context.lookup("MyQueue")).isEqualTo(new LightmqQueue("example.MyQueue"));
    assertThat(context.lookup("MyTopic")).isEqualTo(new LightmqTopic("example.MyTopic"));
  }

  @Test
  void classicReadsUserAndUrlFromTheEnvironmentItself() throws Exception {
    Context context =
        context("brokerURL=tcp://h:1\nuserName=anna\npassword=secret\nunrelated.key=1\n");
    for (String name :
        new String[] {
          "ConnectionFactory",
          "QueueConnectionFactory",
          "TopicConnectionFactory",
          "XAConnectionFactory"
        }) {
      assertThat(factory(context, name))
          .isEqualTo(new LightmqConnectionFactory("lightmq://h:1", "anna", "secret"));
    }
  }

  @Test
  void aFileForArtemisWorks() throws Exception {
    Context context =
        context(
            """
            connectionFactory.ConnectionFactory=(tcp://one:61616,tcp://two:61616)?ha=true&reconnectAttempts=-1
            connectionFactory.jms/Other=tcp://three:61616?type=QUEUE_CF&user=anna&password=pw
            queue.queues/exampleQueue=exampleQueue
            topic.exampleTopic=exampleTopic
            """);
    assertThat(factory(context, "ConnectionFactory").getUri())
        .isEqualTo("lightmq://one:61616,two:61616");
    assertThat(factory(context, "jms/Other"))
        .isEqualTo(new LightmqConnectionFactory("lightmq://three:61616", "anna", "pw"));
    assertThat(context.lookup("queues/exampleQueue")).isEqualTo(new LightmqQueue("exampleQueue"));
    assertThat(context.lookup("dynamicTopics/x")).isEqualTo(new LightmqTopic("x"));
    assertThat(factory(context, "TopicConnectionFactory").getUri())
        .isEqualTo(LightmqConnectionFactory.DEFAULT_URI);
  }

  @Test
  void aFileForQpidWorks() throws Exception {
    Path file = directory.resolve("jndi.properties");
    Files.writeString(
        file,
        """
        broker.host = brokerhost
        connectionfactory.qpidConnectionFactory = amqp://${broker.host}:${no.such.port:-5672}
        connectionfactory.other =
        default.connectionfactory.remoteURI = amqp://default:1
        property.connectionfactory.other.username = anna
        property.connectionfactory.other.password = pw&%
        default.connectionfactory.prefetchPolicy.all = 9
        queue.myQueue = ${broker.host}.queue
        Topic.myTopic = topicName
        destination.q = queue://q
        destination.t = topic:t
        """,
        StandardCharsets.ISO_8859_1);
    for (String url : new String[] {file.toString(), file.toUri().toString(), "file:" + file}) {
      Context context = context("java.naming.provider.url=" + url);
      assertThat(factory(context, "qpidConnectionFactory").getUri())
          .isEqualTo("lightmq://brokerhost:5672");
      LightmqConnectionFactory expected =
          new LightmqConnectionFactory("lightmq://default:1", "anna", "pw&%");
      expected.setPrefetchMessages(9);
      assertThat(factory(context, "other")).isEqualTo(expected);
      assertThat(factory(context, "ConnectionFactory").getPrefetchMessages()).isEqualTo(9);
      assertThat(context.lookup("myQueue")).isEqualTo(new LightmqQueue("brokerhost.queue"));
      assertThat(context.lookup("myTopic")).isEqualTo(new LightmqTopic("topicName"));
      assertThat(context.lookup("q")).isEqualTo(new LightmqQueue("q"));
      assertThat(context.lookup("t")).isEqualTo(new LightmqTopic("t"));
    }
  }

  @Test
  void theProviderUrlMayNameAFileOnTheClassPathThatNamesTheBroker() throws Exception {
    for (String url :
        new String[] {
          "classpath:naming/sample.properties", "classpath:/naming/sample.properties"
        }) {
      Context context =
          context("java.naming.provider.url=" + url + "\nqueue.fromFile=overruled\nqueue.own=own");
      assertThat(factory(context, "ConnectionFactory").getUri()).isEqualTo("lightmq://sample:1");
      assertThat(context.lookup("fromFile")).isEqualTo(new LightmqQueue("sample.queue"));
      assertThat(context.lookup("own")).isEqualTo(new LightmqQueue("own"));
    }
  }

  @Test
  void theFileMayBeChosenByAVariable() throws Exception {
    Path file = directory.resolve("x.properties");
    Files.writeString(file, "queue.q=found");
    Context context =
        context("where=" + directory + "\njava.naming.provider.url=${where}/x.properties");
    assertThat(context.lookup("q")).isEqualTo(new LightmqQueue("found"));
  }

  @Test
  void aFileThatCannotBeReadIsToldWithItsName() throws Exception {
    assertThatThrownBy(() -> context("java.naming.provider.url=" + directory + "/none.properties"))
        .isInstanceOf(NamingException.class)
        .hasMessageContaining("none.properties")
        .hasMessageContaining("lightmq://host:7654");
    assertThatThrownBy(() -> context("java.naming.provider.url=classpath:none.properties"))
        .hasMessageContaining("no such resource");
    assertThatThrownBy(() -> context("java.naming.provider.url=" + directory))
        .hasMessageContaining("cannot be read");
    Path loop = directory.resolve("loop.properties");
    Files.writeString(loop, "java.naming.provider.url=other.properties");
    assertThatThrownBy(() -> context("java.naming.provider.url=" + loop))
        .hasMessageContaining("another file");
    Path large = directory.resolve("large.properties");
    Files.write(large, new byte[(1 << 20) + 1]);
    assertThatThrownBy(() -> context("java.naming.provider.url=" + large))
        .hasMessageContaining("1048576 bytes");
  }

  @Test
  void nothingIsLoadedFromElsewhere() {
    assertThatThrownBy(() -> context("java.naming.provider.url=http://127.0.0.1:1/jndi.properties"))
        .isInstanceOf(NamingException.class)
        .hasMessageContaining("java.naming.provider.url")
        .hasMessageContaining("lightmq:mem:NAME");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "connectionFactory.x=tcp://h:1?jms.prefetchPolicy.al=1|connectionFactory.x",
        "connectionfactory.x=lightmq://h?clietnId=1|did you mean clientId?",
        "queue.x=q?consumer.prefetchSize=10|prefetchMessages",
        "queue.x=queue://a,topic://b|lists",
        "queue.x=topic://a|a queue cannot be",
        "destination.x=plain|queue:NAME or topic:NAME",
        "queue.x=|1 to 512 bytes",
        "queue.x=${none}|'none'",
        "queue.dynamicQueues/x=q|cannot be bound",
        "queue.'x=q|property queue.'x",
        "queue.///=q|is empty",
        "property.connectionfactory.y.clientID=c|no connection factory",
        "property.connectionfactory.ConnectionFactory.clietnId=c|did you mean clientI",
        "property.connectionfactory.ConnectionFactory.sslEnabled=true|lightmqs://",
        "default.connectionfactory.prefetchMessages=x|default.connectionfactory.prefetchMessages"
      })
  void aPropertyThatCannotBeUnderstoodIsNamed(String line, String message) {
    assertThatThrownBy(() -> context(line))
        .isInstanceOf(NamingException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "queue.x=a\ntopic.x=b",
        "queue.x=a\nQueue.x=a",
        "queue.x=a\nqueue.x/y=a",
        "connectionFactory.x=\nconnectionfactory.x=",
        "queue.ConnectionFactory=a\nconnectionFactory.ConnectionFactory="
      })
  void twoPropertiesForOneNameAreRefused(String lines) {
    assertThatThrownBy(() -> context(lines))
        .isInstanceOf(NamingException.class)
        .hasMessageMatching(".*(bind the same name|bound to something else).*");
  }

  @Test
  void aDefaultNameMayBeBoundToSomethingElse() throws Exception {
    assertThat(context("queue.ConnectionFactory=q").lookup("ConnectionFactory"))
        .isEqualTo(new LightmqQueue("q"));
  }

  @Test
  void aFactoryThatIsBothListedAndGivenIsBoundOnce() throws Exception {
    Context context = context("connectionFactoryNames=b,,a\nconnectionFactory.a=lightmq://a:1\n");
    assertThat(factory(context, "a").getUri()).isEqualTo("lightmq://a:1");
    assertThat(Collections.list(context.list("")))
        .extracting(NameClassPair::getName)
        .contains("a", "b");
    assertThatThrownBy(() -> context("connectionFactoryNames=a\nconnection.b.clientID=c"))
        .hasMessageContaining("no connection factory");
  }

  @Test
  void anOptionOfANameThatIsNotBoundIsRefusedWithTheNearest() {
    for (String prefix : new String[] {"connection.", "property.connectionfactory."}) {
      for (String option : new String[] {"clientID", "prefetchPolicy.all"}) {
        assertThatThrownBy(
                () ->
                    context(
                        "connectionFactory.billing=lightmq://a:1\n"
                            + prefix
                            + "biling."
                            + option
                            + "=7"))
            .hasMessageContaining(prefix + "biling." + option)
            .hasMessageContaining("the nearest is billing");
      }
    }
    assertThatThrownBy(() -> context("connection.somethingElse.clientID=c"))
        .hasMessageContaining("known are ConnectionFactory");
  }

  @Test
  void anOptionOfANameWithDotsIsRefusedWithTheNearest() {
    assertThatThrownBy(
            () ->
                context(
                    "connectionFactory.shop.billing=lightmq://a:1\nconnection.shop.biling.user=u"))
        .hasMessageContaining("the nearest is shop.billing");
  }

  @Test
  void aKeyThatOnlyBeginsLikeAnOptionIsLeftToOthers() throws Exception {
    assertThat(context("connection.timeout=5\nqueue.q=q").lookup("q"))
        .isEqualTo(new LightmqQueue("q"));
  }

  @Test
  void theUserOfTheContextIsNotMixedIntoAFactoryWithItsOwn() throws Exception {
    Hashtable<Object, Object> environment = new Hashtable<>();
    environment.put(Context.INITIAL_CONTEXT_FACTORY, LightmqInitialContextFactory.class.getName());
    environment.put(Context.SECURITY_PRINCIPAL, "${not.expanded}");
    environment.put(Context.SECURITY_CREDENTIALS, "$${pw}".toCharArray());
    environment.put("connectionFactory.own", "lightmq://h:1?user=own");
    Context context = new InitialContext(environment);
    assertThat(factory(context, "ConnectionFactory"))
        .isEqualTo(
            new LightmqConnectionFactory(
                LightmqConnectionFactory.DEFAULT_URI, "${not.expanded}", "$${pw}"));
    assertThat(factory(context, "own"))
        .isEqualTo(new LightmqConnectionFactory("lightmq://h:1?user=own"));
  }

  @Test
  void theUserMayStandInTheFile() throws Exception {
    Path file = directory.resolve("user.properties");
    Files.writeString(
        file,
        "java.naming.security.principal=anna\njava.naming.security.credentials=$${pw}\n"
            + "java.naming.provider.url=lightmq://h:1\n");
    assertThat(factory(context("java.naming.provider.url=" + file), "ConnectionFactory"))
        .isEqualTo(new LightmqConnectionFactory("lightmq://h:1", "anna", "$${pw}"));
  }

  @Test
  void ofNamesWithDotsTheLongestHasTheOption() throws Exception {
    Context context =
        context(
            """
            connectionFactory.a =
            connectionFactory.a.b =
            connectionFactory.A =
            property.connectionfactory.a.clientID = one
            property.connectionfactory.a.b.clientID = two
            """);
    assertThat(factory(context, "a").getClientId()).isEqualTo("one");
    assertThat(factory(context, "a.b").getClientId()).isEqualTo("two");
    assertThat(factory(context, "A").getClientId()).as("names count as written").isNull();
  }
}
