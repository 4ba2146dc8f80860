package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.unboundid.ldap.listener.InMemoryDirectoryServer;
import com.unboundid.ldap.listener.InMemoryDirectoryServerConfig;
import com.unboundid.ldap.listener.InMemoryListenerConfig;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.naming.Context;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.naming.RefAddr;
import javax.naming.Reference;
import javax.naming.StringRefAddr;
import javax.naming.directory.Attributes;
import javax.naming.directory.InitialDirContext;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.naming.NamingContext;
import org.apache.naming.ResourceRef;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Administered objects through the places where administrators keep them. */
@SuppressWarnings("BanJNDI") // naming is what is tested
class StoredObjectsTest {
  private static final String SECRET = "s3cr3t";

  @TempDir Path directory;

  private static LightmqConnectionFactory factory() {
    LightmqConnectionFactory factory =
        new LightmqConnectionFactory("lightmq://one:1,[::1]:2?user=anna&trustedPackages=a.b,c");
    factory.setClientId("with # and \u00e9 and spaces ");
    factory.setFailover(false);
    factory.setMaxUnconfirmedBytes(1L << 33);
    return factory;
  }

  /** What the factory is when it comes back from a place that keeps no password. */
  private static LightmqConnectionFactory withPassword(boolean stored) {
    LightmqConnectionFactory factory = factory();
    factory.setReferencePassword(stored);
    factory.setPassword(SECRET);
    return factory;
  }

  private static LightmqConnectionFactory without(LightmqConnectionFactory factory)
      throws Exception {
    LightmqConnectionFactory copy = new LightmqConnectionFactory(factory.getUri());
    copy.setOptions(factory.getOptions());
    return copy;
  }

  private static void roundTrips(Context context) throws Exception {
    context.bind("factory", withPassword(false));
    context.bind("trusting", withPassword(true));
    context.bind("plain", new LightmqConnectionFactory());
    context.bind("queue", new LightmqQueue("a queue # with \u00e9"));
    context.bind("topic", new LightmqTopic("t"));
    assertThat(context.lookup("factory")).isEqualTo(without(withPassword(false)));
    assertThat(context.lookup("trusting")).isEqualTo(withPassword(true));
    assertThat(context.lookup("plain")).isEqualTo(new LightmqConnectionFactory());
    assertThat(context.lookup("queue")).isEqualTo(new LightmqQueue("a queue # with \u00e9"));
    assertThat(context.lookup("topic")).isEqualTo(new LightmqTopic("t"));
    context.rebind("queue", new LightmqQueue("other"));
    assertThat(context.lookup("queue")).isEqualTo(new LightmqQueue("other"));
  }

  // ---- files ----

  private Context files() throws NamingException {
    Hashtable<String, String> environment = new Hashtable<>();
    environment.put(Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.fscontext.RefFSContextFactory");
    environment.put(Context.PROVIDER_URL, directory.toUri().toString());
    return new InitialContext(environment);
  }

  @Test
  void allObjectsComeBackFromAFileContext() throws Exception {
    roundTrips(files());
    assertThat(files().lookup("topic")).isEqualTo(new LightmqTopic("t"));
  }

  @Test
  void aFileContextHoldsAPasswordOnlyIfItWasAskedFor() throws Exception {
    files().bind("factory", withPassword(false));
    assertThat(stored()).contains("one\\:1").doesNotContain(SECRET);
    files().bind("trusting", withPassword(true));
    assertThat(stored()).contains(SECRET);
  }

  private String stored() throws IOException {
    return Files.readString(directory.resolve(".bindings"));
  }

  // ---- LDAP ----

  /** The names of RFC 2713 objects in LDAP are attributes; here each is {@code cn=<name>}. */
  private interface Use {
    void with(InitialDirContext context) throws Exception;
  }

  private static void inLdap(Use use) throws Exception {
    InMemoryDirectoryServerConfig config = new InMemoryDirectoryServerConfig("dc=jms");
    config.setListenerConfigs(
        InMemoryListenerConfig.createLDAPConfig("test", InetAddress.getLoopbackAddress(), 0, null));
    config.setSchema(null);
    InMemoryDirectoryServer server = new InMemoryDirectoryServer(config);
    server.add("dn: dc=jms", "objectClass: domain", "dc: jms");
    server.startListening();
    Hashtable<String, String> environment = new Hashtable<>();
    environment.put(Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.ldap.LdapCtxFactory");
    environment.put(
        Context.PROVIDER_URL,
        "ldap://"
            + InetAddress.getLoopbackAddress().getHostAddress()
            + ":"
            + server.getListenPort()
            + "/dc=jms");
    InitialDirContext context = new InitialDirContext(environment);
    try {
      use.with(context);
    } finally {
      context.close();
      server.shutDown(true);
    }
  }

  @Test
  void allObjectsComeBackFromLdap() throws Exception {
    inLdap(
        ldap -> {
          ldap.bind("cn=factory", withPassword(false));
          ldap.bind("cn=trusting", withPassword(true));
          ldap.bind("cn=queue", new LightmqQueue("a queue # with \u00e9"));
          ldap.bind("cn=topic", new LightmqTopic("t"));
          assertThat(ldap.lookup("cn=factory")).isEqualTo(without(withPassword(false)));
          assertThat(ldap.lookup("cn=trusting")).isEqualTo(withPassword(true));
          assertThat(ldap.lookup("cn=queue")).isEqualTo(new LightmqQueue("a queue # with \u00e9"));
          assertThat(ldap.lookup("cn=topic")).isEqualTo(new LightmqTopic("t"));
        });
  }

  @Test
  void ldapHoldsAReferenceAndNoSerialisedObjectAndNoPassword() throws Exception {
    inLdap(
        ldap -> {
          ldap.bind("cn=factory", withPassword(false));
          Attributes attributes = ldap.getAttributes("cn=factory");
          assertThat(attributes.get("javaFactory").get())
              .isEqualTo(LightmqObjectFactory.class.getName());
          assertThat(attributes.get("javaSerializedData")).isNull();
          assertThat(attributes.get("javaCodebase")).isNull();
          assertThat(attributes.toString()).contains("one:1").doesNotContain(SECRET);
        });
  }

  // ---- Tomcat ----

  /** As Tomcat makes a {@code <Resource>} element a reference. */
  private static ResourceRef resource(String type, String... attributes) {
    ResourceRef reference = new ResourceRef(type, "for tests", "Shareable", "Container", true);
    reference.add(new StringRefAddr("factory", LightmqObjectFactory.class.getName()));
    for (int i = 0; i < attributes.length; i += 2) {
      reference.add(new StringRefAddr(attributes[i], attributes[i + 1]));
    }
    return reference;
  }

  private static Object throughTomcat(ResourceRef reference) throws NamingException {
    NamingContext context = new NamingContext(new Hashtable<>(), "test");
    context.bind("x", reference);
    return context.lookup("x");
  }

  @Test
  void tomcatResourcesNeedNoMoreThanTheirType() throws Exception {
    assertThat(throughTomcat(resource(LightmqConnectionFactory.class.getName())))
        .isEqualTo(new LightmqConnectionFactory());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "io.lightmq.client.LightmqConnectionFactory",
        "jakarta.jms.ConnectionFactory",
        "jakarta.jms.QueueConnectionFactory",
        "jakarta.jms.TopicConnectionFactory"
      })
  void tomcatResourcesTakeAnySubsetOfTheOptions(String type) throws Exception {
    LightmqConnectionFactory expected = new LightmqConnectionFactory("lightmq://h:1?parkMillis=9");
    expected.setUser("anna");
    expected.setPassword(SECRET);
    expected.setClientId("c");
    ResourceRef reference =
        resource(
            type,
            "userName",
            "anna",
            "brokerURL",
            "lightmq://h:1?parkMillis=9",
            "PASSWORD",
            SECRET,
            "clientID",
            "c",
            "closeMethod",
            "close",
            "maxIdle",
            "30");
    assertThat(throughTomcat(reference)).isEqualTo(expected);
  }

  @Test
  void tomcatResourcesMayBeDestinations() throws Exception {
    LightmqQueue queue = new LightmqQueue("IN");
    for (String attribute : List.of("name", "physicalName", "address", "queueName")) {
      assertThat(throughTomcat(resource("jakarta.jms.Queue", attribute, "IN"))).isEqualTo(queue);
    }
    assertThat(throughTomcat(resource(LightmqQueue.class.getName(), "physicalName", "IN")))
        .isEqualTo(queue);
    assertThat(throughTomcat(resource("jakarta.jms.Topic", "physicalName", "T")))
        .isEqualTo(new LightmqTopic("T"));
  }

  @Test
  void aResourceThatCannotBeMadeSaysWhatIsMissingOrWrong() {
    assertThatThrownBy(() -> throughTomcat(resource("jakarta.jms.Queue")))
        .isInstanceOf(NamingException.class)
        .hasStackTraceContaining("physicalName");
    assertThatThrownBy(
            () -> throughTomcat(resource("jakarta.jms.Queue", "address", "a", "queueName", "b")))
        .hasStackTraceContaining("differ");
    String type = LightmqConnectionFactory.class.getName();
    assertThatThrownBy(() -> throughTomcat(resource(type, "prefetchMessages", "many")))
        .hasStackTraceContaining("prefetchMessages is a number");
    assertThatThrownBy(() -> throughTomcat(resource(type, "uri", "tcp://h:1")))
        .hasStackTraceContaining("lightmq://host:port");
  }

  @Test
  void referencesOfOthersAreLeftAlone() throws Exception {
    LightmqObjectFactory objects = new LightmqObjectFactory();
    Reference queue = new Reference("jakarta.jms.Queue", "x.Factory", null);
    queue.add(new StringRefAddr("name", "q"));
    assertThat(objects.getObjectInstance(queue, null, null, null)).isNull();
    Reference own = new Reference("java.lang.String", LightmqObjectFactory.class.getName(), null);
    assertThat(objects.getObjectInstance(own, null, null, null)).isNull();
    assertThat(objects.getObjectInstance(null, null, null, null)).isNull();
  }

  // ---- serialisation ----

  private static byte[] serialised(Object object) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(object);
    }
    return bytes.toByteArray();
  }

  private static Object read(byte[] bytes) throws IOException, ClassNotFoundException {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      return in.readObject();
    }
  }

  @Test
  void factoriesComeBackFromSerialisationWithAPasswordOnlyIfItWasAskedFor() throws Exception {
    assertThat(read(serialised(withPassword(true)))).isEqualTo(withPassword(true));
    assertThat(read(serialised(withPassword(false)))).isEqualTo(without(withPassword(false)));
  }

  @Test
  void aSerialisedFactoryWithAWrongOptionIsRefused() throws Exception {
    byte[] bytes = serialised(new LightmqConnectionFactory("lightmq://h:1?parkMillis=9"));
    String text = new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1);
    byte[] changed =
        text.replace("parkMillis", "parkMallis")
            .getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
    assertThatThrownBy(() -> read(changed))
        .isInstanceOf(java.io.InvalidObjectException.class)
        .hasMessageContaining("did you mean parkMillis?");
  }

  // ---- any factory ----

  @Provide
  Arbitrary<Map<String, String>> options() {
    Set<String> numbers = new java.util.TreeSet<>(ClientSettings.numberDefaults().keySet());
    Arbitrary<Map<String, String>> counted =
        Arbitraries.maps(
            Arbitraries.of(numbers),
            Arbitraries.integers().between(1_024, 9_999).map(String::valueOf));
    Arbitrary<Map<String, String>> texts =
        Arbitraries.maps(
            Arbitraries.of("user", "clientId", "trustedPackages", "password"),
            Arbitraries.strings().ofMinLength(1).ofMaxLength(20));
    return counted.flatMap(
        some ->
            texts.map(
                more -> {
                  Map<String, String> all = new TreeMap<>(some);
                  all.putAll(more);
                  return all;
                }));
  }

  @Property(tries = 500)
  void everyFactoryComesBackFromItsReferenceAndItsBytes(
      @ForAll("options") Map<String, String> options, @ForAll boolean password) throws Exception {
    LightmqConnectionFactory factory = new LightmqConnectionFactory("lightmq://h:1");
    factory.setOptions(options);
    factory.setReferencePassword(password);
    LightmqConnectionFactory expected = password ? factory : without(factory);
    Reference reference = factory.getReference();
    assertThat(Collections.list(reference.getAll()).stream().map(RefAddr::getType))
        .doesNotHaveDuplicates();
    assertThat(new LightmqObjectFactory().getObjectInstance(reference, null, null, null))
        .isEqualTo(expected);
    assertThat(read(serialised(factory))).isEqualTo(expected);
  }
}
