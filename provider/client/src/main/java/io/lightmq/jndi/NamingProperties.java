package io.lightmq.jndi;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Hashtable;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import javax.naming.Context;
import javax.naming.NamingException;
import org.jspecify.annotations.Nullable;

/**
 * What the bindings of a context are made of: the environment's entries and those of the properties
 * file that {@code java.naming.provider.url} may name, which count more.
 *
 * @param entries all entries whose key and value are text, before their variables are put in
 * @param brokerUrl the broker that the provider URL names, if it names one
 */
@SuppressWarnings("JdkObsolete") // JNDI asks for a Hashtable
record NamingProperties(Map<String, String> entries, @Nullable String brokerUrl) {
  private static final int MAX_BYTES = 1 << 20;
  private static final String CLASSPATH = "classpath:";
  private static final String FILE = "file:";

  /**
   * Reads environment and file.
   *
   * @throws NamingException if the file cannot be read, has more than 1 MiB or names another file
   */
  static NamingProperties read(Map<?, ?> environment) throws NamingException {
    Map<String, String> entries = texts(environment);
    String url = providerUrl(entries);
    if (url == null || isBroker(url)) {
      return new NamingProperties(entries, url);
    }
    Map<String, String> file = load(url);
    entries.remove(Context.PROVIDER_URL);
    entries.putAll(file);
    String broker = providerUrl(entries);
    if (broker != null && !isBroker(broker)) {
      throw new NamingException(
          "the naming file "
              + url
              + " has a java.naming.provider.url that names no broker but another file");
    }
    return new NamingProperties(entries, broker);
  }

  private static Map<String, String> texts(Map<?, ?> environment) {
    Map<String, String> texts = new TreeMap<>();
    environment.forEach(
        (key, value) -> {
          if (key instanceof String name && value instanceof String text) {
            texts.put(name, text);
          }
        });
    return texts;
  }

  private static @Nullable String providerUrl(Map<String, String> entries) throws NamingException {
    String url = entries.get(Context.PROVIDER_URL);
    if (url == null) {
      return null;
    }
    String expanded = new Variables(entries).expand(Context.PROVIDER_URL, url).trim();
    return expanded.isEmpty() ? null : expanded;
  }

  private static boolean isBroker(String url) {
    return BrokerUrl.looksLikeOne(url) && !isFile(url);
  }

  private static boolean isFile(String url) {
    String lower = url.toLowerCase(Locale.ROOT);
    return lower.startsWith(FILE) || lower.startsWith(CLASSPATH);
  }

  private static Map<String, String> load(String url) throws NamingException {
    try (InputStream in = open(url)) {
      byte[] bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new NamingException(
            "the naming file " + url + " has more than " + MAX_BYTES + " bytes");
      }
      Properties properties = new Properties();
      properties.load(new java.io.ByteArrayInputStream(bytes));
      return texts(new Hashtable<Object, Object>(properties));
    } catch (IOException | IllegalArgumentException e) {
      NamingException failed =
          new NamingException(
              "java.naming.provider.url: "
                  + reason(url, e)
                  + "; a broker is written lightmq://host:7654");
      failed.setRootCause(e);
      throw failed;
    }
  }

  /** A file system's exceptions often say no more than the name, their class is the reason. */
  private static String reason(String url, Exception failure) {
    if (failure instanceof NoSuchFileException missing) {
      return "there is no naming file " + missing.getFile();
    }
    String text = failure.getMessage();
    String why =
        failure instanceof AccessDeniedException
            ? "permission denied"
            : text == null ? failure.getClass().getSimpleName() : text;
    return "the naming file " + url + " cannot be read: " + why;
  }

  private static InputStream open(String url) throws IOException {
    if (url.toLowerCase(Locale.ROOT).startsWith(CLASSPATH)) {
      String name = url.substring(CLASSPATH.length());
      String resource = name.startsWith("/") ? name.substring(1) : name;
      ClassLoader context = Thread.currentThread().getContextClassLoader();
      InputStream in = context == null ? null : context.getResourceAsStream(resource);
      if (in == null) {
        in = NamingProperties.class.getResourceAsStream("/" + resource);
      }
      if (in == null) {
        throw new IOException("there is no such resource on the class path");
      }
      return in;
    }
    return Files.newInputStream(path(url));
  }

  /** {@code file:///a/b}, {@code file:a/b} from the working directory, or a path as it is. */
  private static Path path(String url) throws IOException {
    try {
      if (!url.toLowerCase(Locale.ROOT).startsWith(FILE)) {
        return Path.of(url);
      }
      return url.startsWith("/", FILE.length())
          ? Path.of(java.net.URI.create(url))
          : Path.of(url.substring(FILE.length()));
    } catch (InvalidPathException e) {
      throw new IOException(e);
    }
  }
}
