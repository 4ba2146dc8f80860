package io.lightmq.tck.netty;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.core.door.BrokerSettings;
import io.lightmq.embedded.EmbeddedLinkFactory;
import io.lightmq.node.Node;
import io.lightmq.tck.SmallNode;
import io.lightmq.wire.Frame;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The client beside whatever Netty the application has. The build puts older ones below {@code
 * target/netty}.
 */
class NettyVersionsTest {
  private static final String OLDEST = "4.1.100.Final";
  private static final String TOO_OLD = "4.0.56.Final";
  private static final String OURS = "ours";
  private static final String NONE = "none";

  /** The oldest, but for one part that is ours. */
  private static final String MIXED = "mixed";

  @TempDir Path directory;

  /** Everything that we run with, but for Netty, which is that of a version. */
  private static URLClassLoader applicationWith(String version) throws Exception {
    List<URL> urls = new ArrayList<>();
    for (URL entry : classPath()) {
      String file = path(entry).getFileName().toString();
      if (version.equals(OURS)
          || !file.startsWith("netty-")
          || version.equals(MIXED) && file.startsWith("netty-transport-4")) {
        urls.add(entry);
      }
    }
    if (!version.equals(OURS) && !version.equals(NONE)) {
      String others = version.equals(MIXED) ? OLDEST : version;
      try (Stream<Path> jars = Files.list(Path.of("target", "netty", others))) {
        for (Path jar : jars.toList()) {
          urls.add(jar.toUri().toURL());
        }
      }
    }
    return new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
  }

  private static List<URL> classPath() throws Exception {
    if (NettyVersionsTest.class.getClassLoader() instanceof URLClassLoader loader) {
      return List.of(loader.getURLs());
    }
    List<URL> urls = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      urls.add(Path.of(entry).toUri().toURL());
    }
    return urls;
  }

  private static String run(String version, String uri) throws Exception {
    Thread current = Thread.currentThread();
    ClassLoader before = current.getContextClassLoader();
    try (URLClassLoader application = applicationWith(version)) {
      current.setContextClassLoader(application);
      @SuppressWarnings("unchecked") // of our own class, in another loader
      UnaryOperator<String> program =
          (UnaryOperator<String>)
              application
                  .loadClass(SendAndReceive.class.getName())
                  .getDeclaredConstructor()
                  .newInstance();
      return program.apply(uri);
    } finally {
      current.setContextClassLoader(before);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {OLDEST, "4.1.133.Final", OURS})
  void clientWorksOverTcp(String version) throws Exception {
    try (SmallNode node = SmallNode.start(directory, "")) {
      assertThat(run(version, node.uri())).isEqualTo("20 received");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {OLDEST, "4.1.133.Final", OURS})
  void brokerInsideTheApplicationWorks(String version) throws Exception {
    assertThat(run(version, "lightmq:mem:netty-" + version)).isEqualTo("20 received");
  }

  @ParameterizedTest
  @ValueSource(strings = {TOO_OLD, NONE, MIXED})
  void anyOtherNettyIsToldWithVersions(String version) throws Exception {
    String told =
        "JMSException: .*Netty 4\\.1\\.100 or later.*"
            + switch (version) {
              case NONE -> "no Netty";
              case MIXED -> "Netty/Buffer " + OLDEST + ".*Netty/Transport 4\\.2\\..*io.netty";
              default -> TOO_OLD;
            }
            + ".*";
    try (SmallNode node = SmallNode.start(directory, "")) {
      assertThat(run(version, node.uri())).matches(told);
    }
    assertThat(run(version, "lightmq:mem:netty-" + version)).matches(told);
  }

  /** Also what no test comes by: whatever of Netty our classes name has to be in the oldest. */
  @Test
  void allThatIsUsedOfNettyIsInTheOldest() throws Exception {
    List<URL> own = new ArrayList<>();
    for (Class<?> of :
        List.of(
            LightmqConnectionFactory.class,
            Frame.class,
            EmbeddedLinkFactory.class,
            Node.class,
            BrokerSettings.class)) {
      own.add(of.getProtectionDomain().getCodeSource().getLocation());
    }
    JavaClasses classes =
        new ClassFileImporter().importUrls(own.stream().map(NettyVersionsTest::classesOf).toList());
    Set<String> missing = new TreeSet<>();
    int seen = 0;
    try (URLClassLoader oldest = applicationWith(OLDEST)) {
      for (JavaClass each : classes) {
        for (JavaAccess<?> access : each.getAccessesFromSelf()) {
          if (access.getTargetOwner().getName().startsWith("io.netty.")) {
            seen++;
            if (!isThere(oldest, access.getTarget())) {
              missing.add(each.getName() + " uses " + access.getTarget().getFullName());
            }
          }
        }
      }
    }
    assertThat(seen).isGreaterThan(300);
    assertThat(missing)
        .allMatch(use -> use.startsWith("io.lightmq.client.link.LinkLoop$OfNetty42 "))
        .isNotEmpty();
  }

  private static Path path(URL location) {
    return Path.of(URI.create(location.toString()));
  }

  /** A folder as it is, a jar as what is in it. */
  private static URL classesOf(URL location) {
    try {
      return location.getPath().endsWith(".jar") ? new URL("jar:" + location + "!/") : location;
    } catch (MalformedURLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean isThere(ClassLoader loader, AccessTarget target) {
    try {
      Class<?> owner = Class.forName(target.getOwner().getName(), false, loader);
      if (!(target instanceof CodeUnitAccessTarget call)) {
        return Stream.of(owner.getFields()).anyMatch(f -> f.getName().equals(target.getName()));
      }
      List<String> wanted = call.getRawParameterTypes().stream().map(JavaClass::getName).toList();
      if (call.getName().equals("<init>")) {
        return Stream.of(owner.getDeclaredConstructors())
            .anyMatch(c -> names(c.getParameterTypes()).equals(wanted));
      }
      String returned = call.getRawReturnType().getName();
      return all(owner)
          .flatMap(type -> Stream.of(type.getDeclaredMethods()))
          .anyMatch(
              m ->
                  m.getName().equals(call.getName())
                      && m.getReturnType().getName().equals(returned)
                      && names(m.getParameterTypes()).equals(wanted));
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  private static List<String> names(Class<?>[] types) {
    return Stream.of(types).map(Class::getName).toList();
  }

  private static Stream<Class<?>> all(Class<?> type) {
    Stream<Class<?>> above = Stream.of(type.getInterfaces()).flatMap(NettyVersionsTest::all);
    Class<?> parent =
        type.getSuperclass() == null && type.isInterface() ? Object.class : type.getSuperclass();
    Stream<Class<?>> of = parent == null ? Stream.empty() : all(parent);
    return Stream.concat(Stream.of(type), Stream.concat(of, above));
  }
}
