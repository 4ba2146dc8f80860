package io.lightmq.client.message;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.JMSException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InvalidClassException;
import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which classes an ObjectMessage may bring: value types and plain collections of the JDK, and the
 * packages and classes that the option {@code trustedPackages} names ({@code *} for all).
 *
 * @param packages names of packages, trusted with their subpackages, and of classes, trusted with
 *     those nested in them
 */
public record ObjectTrust(Set<String> packages) {
  private static final long MAX_DEPTH = 64;
  private static final long MAX_REFERENCES = 1_000_000;
  private static final long MAX_ARRAY = 4L * 1024 * 1024;

  /** Value types, and collections whose elements are checked like everything else. */
  private static final Set<String> ALWAYS =
      Set.of(
          "java.lang.Boolean",
          "java.lang.Byte",
          "java.lang.Character",
          "java.lang.Double",
          "java.lang.Enum",
          "java.lang.Float",
          "java.lang.Integer",
          "java.lang.Long",
          "java.lang.Number",
          "java.lang.Object",
          "java.lang.Short",
          "java.lang.String",
          "java.lang.StringBuffer",
          "java.lang.StringBuilder",
          "java.math.BigDecimal",
          "java.math.BigInteger",
          "java.time.Ser",
          "java.util.ArrayList",
          "java.util.Date",
          "java.util.HashMap",
          "java.util.HashSet",
          "java.util.Hashtable",
          "java.util.LinkedHashMap",
          "java.util.LinkedHashSet",
          "java.util.LinkedList",
          "java.util.Map$Entry",
          "java.util.TreeMap",
          "java.util.TreeSet",
          "java.util.UUID",
          "java.util.Vector");

  public ObjectTrust {
    packages = Set.copyOf(packages);
  }

  /** Reads an object whose classes are all trusted. */
  Serializable read(byte[] serialised) throws JMSException {
    try (ObjectInputStream in = new Stream(serialised)) {
      in.setObjectInputFilter(this::check);
      return (Serializable) in.readObject();
    } catch (InvalidClassException e) {
      throw JmsFaults.notTrusted(
          "the object was refused ("
              + e.getMessage()
              + "); if you trust its sender, name its class or package in the option trustedPackages, which"
              + " has "
              + new TreeSet<>(packages),
          e);
    } catch (IOException | ClassNotFoundException | RuntimeException e) {
      throw JmsFaults.format("the object cannot be read: " + e, e);
    }
  }

  private ObjectInputFilter.Status check(ObjectInputFilter.FilterInfo info) {
    if (info.depth() > MAX_DEPTH
        || info.references() > MAX_REFERENCES
        || info.arrayLength() > MAX_ARRAY) {
      return ObjectInputFilter.Status.REJECTED;
    }
    Class<?> type = info.serialClass();
    if (type == null) {
      return ObjectInputFilter.Status.UNDECIDED;
    }
    while (type.isArray()) {
      type = type.getComponentType();
    }
    return type.isPrimitive() || trusts(type.getName())
        ? ObjectInputFilter.Status.ALLOWED
        : ObjectInputFilter.Status.REJECTED;
  }

  /** Whether objects of a class may be read. */
  boolean trusts(String className) {
    if (ALWAYS.contains(className) || packages.contains("*")) {
      return true;
    }
    for (String trusted : packages) {
      if (className.startsWith(trusted)
          && (className.length() == trusted.length()
              || className.charAt(trusted.length()) == '.'
              || className.charAt(trusted.length()) == '$')) {
        return true;
      }
    }
    return false;
  }

  /** Finds classes through the application's class loader; never a proxy unless all is trusted. */
  private final class Stream extends ObjectInputStream {
    Stream(byte[] serialised) throws IOException {
      super(new ByteArrayInputStream(serialised));
    }

    @Override
    protected Class<?> resolveClass(ObjectStreamClass description)
        throws IOException, ClassNotFoundException {
      String name = description.getName();
      ClassLoader loader = Thread.currentThread().getContextClassLoader();
      if (loader != null && trusts(name.replaceAll("^\\[+L|;$", ""))) {
        try {
          return Class.forName(name, false, loader);
        } catch (ClassNotFoundException e) {
          return super.resolveClass(description);
        }
      }
      return super.resolveClass(description);
    }

    @Override
    protected @Nullable Class<?> resolveProxyClass(String[] interfaces)
        throws IOException, ClassNotFoundException {
      if (!packages.contains("*")) {
        throw new InvalidClassException("a proxy of " + String.join(", ", interfaces));
      }
      return super.resolveProxyClass(interfaces);
    }
  }
}
