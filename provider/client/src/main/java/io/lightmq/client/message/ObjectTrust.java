package io.lightmq.client.message;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.Uninterrupted;
import jakarta.jms.JMSException;
import java.io.ByteArrayInputStream;
import java.io.Externalizable;
import java.io.IOException;
import java.io.InvalidClassException;
import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Which classes an ObjectMessage may bring: value types and plain collections of the JDK, and the
 * packages and classes that the option {@code trustedPackages} names ({@code *} for all). What
 * reading may cost is bounded as well, more tightly where nobody is trusted: {@link ObjectScan}
 * looks before anything is made, the filter at the sizes of tables and again at each class.
 *
 * @param packages names of packages, trusted with their subpackages, and of classes, trusted with
 *     those nested in them
 */
public record ObjectTrust(Set<String> packages) {
  /** How much an object may cost: nested objects, references, steps of hashing. */
  private record Limits(int depth, int references, long work) {}

  /** A hundred levels fit any stack, also while a class is initialised for the first time. */
  private static final Limits UNTRUSTED = new Limits(100, 1_000_000, 10_000_000);

  /** Some seconds of work at most; a stack that is too small for the depth ends the read. */
  private static final Limits TRUSTED = new Limits(5_000, 16_777_216, 1_000_000_000);

  /** The largest table a collection makes for each byte that follows it. */
  private static final int TABLE_TIMES = 16;

  /** What cannot be looked through to its end. */
  private static final ObjectScan.Seen UNSEEN = new ObjectScan.Seen(0, false);

  private static final int SMALL_TABLE = 64;

  /** Sets and maps within sets and maps; each level can double the steps of hashing. */
  private static final int NESTED_TABLES = 16;

  /** Of a thread for one object that is nested deeply; only what is used takes memory. */
  private static final long LARGE_STACK_BYTES = 64L << 20;

  /** Value types, and collections whose elements are checked like everything else. */
  private static final Set<String> ALWAYS =
      Set.of(
          "java.io.Serializable",
          "java.lang.Boolean",
          "java.lang.Byte",
          "java.lang.CharSequence",
          "java.lang.Character",
          "java.lang.Comparable",
          "java.lang.Double",
          "java.lang.Enum",
          "java.lang.Float",
          "java.lang.Integer",
          "java.lang.Long",
          "java.lang.Number",
          "java.lang.Object",
          "java.lang.Short",
          "java.lang.String",
          "java.lang.String$CaseInsensitiveComparator",
          "java.lang.StringBuffer",
          "java.lang.StringBuilder",
          "java.math.BigDecimal",
          "java.math.BigInteger",
          "java.net.URI",
          "java.sql.Date",
          "java.sql.Time",
          "java.sql.Timestamp",
          "java.time.DayOfWeek",
          "java.time.Duration",
          "java.time.Instant",
          "java.time.LocalDate",
          "java.time.LocalDateTime",
          "java.time.LocalTime",
          "java.time.Month",
          "java.time.MonthDay",
          "java.time.OffsetDateTime",
          "java.time.OffsetTime",
          "java.time.Period",
          "java.time.Ser",
          "java.time.Year",
          "java.time.YearMonth",
          "java.time.ZoneId",
          "java.time.ZoneOffset",
          "java.time.ZoneRegion",
          "java.time.ZonedDateTime",
          "java.util.ArrayDeque",
          "java.util.ArrayList",
          "java.util.Arrays$ArrayList",
          "java.util.CollSer",
          "java.util.Collections$EmptyList",
          "java.util.Collections$EmptyMap",
          "java.util.Collections$EmptySet",
          "java.util.Collections$ReverseComparator",
          "java.util.Collections$SingletonList",
          "java.util.Collections$SingletonMap",
          "java.util.Collections$SingletonSet",
          "java.util.Collections$UnmodifiableCollection",
          "java.util.Collections$UnmodifiableList",
          "java.util.Collections$UnmodifiableMap",
          "java.util.Collections$UnmodifiableNavigableMap",
          "java.util.Collections$UnmodifiableNavigableMap$EmptyNavigableMap",
          "java.util.Collections$UnmodifiableNavigableSet",
          "java.util.Collections$UnmodifiableNavigableSet$EmptyNavigableSet",
          "java.util.Collections$UnmodifiableRandomAccessList",
          "java.util.Collections$UnmodifiableSet",
          "java.util.Collections$UnmodifiableSortedMap",
          "java.util.Collections$UnmodifiableSortedSet",
          "java.util.Currency",
          "java.util.Date",
          "java.util.EnumMap",
          "java.util.EnumSet",
          "java.util.EnumSet$SerializationProxy",
          "java.util.HashMap",
          "java.util.HashSet",
          "java.util.Hashtable",
          "java.util.ImmutableCollections$List12",
          "java.util.ImmutableCollections$ListN",
          "java.util.ImmutableCollections$Map1",
          "java.util.ImmutableCollections$MapN",
          "java.util.ImmutableCollections$Set12",
          "java.util.ImmutableCollections$SetN",
          "java.util.JumboEnumSet",
          "java.util.LinkedHashMap",
          "java.util.LinkedHashSet",
          "java.util.LinkedList",
          "java.util.Locale",
          "java.util.Map$Entry",
          "java.util.Properties",
          "java.util.RegularEnumSet",
          "java.util.TreeMap",
          "java.util.TreeSet",
          "java.util.UUID",
          "java.util.Vector",
          "java.util.concurrent.ConcurrentHashMap",
          "java.util.concurrent.ConcurrentHashMap$Segment",
          "java.util.concurrent.locks.AbstractOwnableSynchronizer",
          "java.util.concurrent.locks.AbstractQueuedSynchronizer",
          "java.util.concurrent.locks.ReentrantLock",
          "java.util.concurrent.locks.ReentrantLock$NonfairSync",
          "java.util.concurrent.locks.ReentrantLock$Sync");

  public ObjectTrust {
    packages = Set.copyOf(packages);
  }

  /**
   * Reads an object whose classes are all trusted.
   *
   * @throws JMSException a MessageFormatException, whatever it is that fails, errors too
   */
  Serializable read(byte[] serialised) throws JMSException {
    Limits limits = packages.isEmpty() ? UNTRUSTED : TRUSTED;
    ObjectScan.Seen seen;
    try {
      seen = look(serialised, limits);
    } catch (StackOverflowError e) {
      return onLargeStack(serialised, limits);
    }
    return seen.depth() > UNTRUSTED.depth()
        ? onLargeStack(serialised, limits)
        : read(serialised, limits, seen.isAll());
  }

  /** Java reads nested objects by recursion, for which a thread's usual stack may be too small. */
  private Serializable onLargeStack(byte[] serialised, Limits limits) throws JMSException {
    CompletableFuture<Serializable> read = new CompletableFuture<>();
    Thread reader =
        new Thread(
            null,
            () -> {
              try {
                read.complete(read(serialised, limits, look(serialised, limits).isAll()));
              } catch (Throwable e) {
                read.completeExceptionally(e);
              }
            },
            "object-reader",
            LARGE_STACK_BYTES);
    reader.setDaemon(true);
    reader.setContextClassLoader(Thread.currentThread().getContextClassLoader());
    reader.start();
    try {
      return Uninterrupted.get(read);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof JMSException refusal) {
        throw refusal;
      }
      throw JmsFaults.format("the object cannot be read: " + e.getCause(), e);
    }
  }

  /** Refuses what must not be read. */
  private ObjectScan.Seen look(byte[] serialised, Limits limits) throws JMSException {
    try {
      return scan(serialised, limits);
    } catch (ObjectScan.Untrusted e) {
      throw notTrusted(e.className(), e);
    } catch (ObjectScan.TooCostly e) {
      throw JmsFaults.format("the object was refused: " + e.getMessage(), e);
    } catch (ObjectScan.Malformed e) {
      throw JmsFaults.format("the object cannot be read: " + e.getMessage(), e);
    }
  }

  private Serializable read(byte[] serialised, Limits limits, boolean isAllSeen)
      throws JMSException {
    try (Stream in = new Stream(serialised, limits, isAllSeen)) {
      in.setObjectInputFilter(in::check);
      try {
        return (Serializable) in.readObject();
      } catch (InvalidClassException e) {
        throw refused(in, e);
      }
    } catch (IOException | ClassNotFoundException | RuntimeException | Error e) {
      throw JmsFaults.format("the object cannot be read: " + e, e);
    }
  }

  /**
   * A class that is trusted may have a form of its own, behind which nothing can be looked through;
   * there the filter bounds how deeply tables are nested.
   */
  private ObjectScan.Seen scan(byte[] serialised, Limits limits)
      throws ObjectScan.Malformed, ObjectScan.TooCostly, ObjectScan.Untrusted {
    Map<String, Boolean> ownForms = new HashMap<>();
    try {
      return ObjectScan.check(
          serialised,
          limits.depth(),
          limits.references(),
          limits.work(),
          name -> !packages.isEmpty() || trusts(name),
          name -> ownForms.computeIfAbsent(name, this::hasFormOfItsOwn));
    } catch (ObjectScan.OwnForm e) {
      if (packages.isEmpty()) {
        throw e;
      }
      return UNSEEN;
    }
  }

  /** Asks the class itself: what a stream says of a class is its sender's word. */
  private boolean hasFormOfItsOwn(String className) {
    if (className.startsWith("java.") || !trusts(className)) {
      return false;
    }
    try {
      ClassLoader context = Thread.currentThread().getContextClassLoader();
      Class<?> found =
          Class.forName(
              className, false, context == null ? ObjectTrust.class.getClassLoader() : context);
      return Externalizable.class.isAssignableFrom(found)
          || found.getDeclaredMethod("readObject", ObjectInputStream.class) != null;
    } catch (ClassNotFoundException | NoSuchMethodException | LinkageError e) {
      return false;
    }
  }

  private JMSException refused(Stream in, InvalidClassException e) {
    String unwanted = in.unwanted;
    if (unwanted != null) {
      return notTrusted(unwanted, e);
    }
    String excess = in.excess;
    return JmsFaults.format("the object was refused: " + (excess == null ? e : excess), e);
  }

  private JMSException notTrusted(String what, Exception e) {
    return JmsFaults.notTrusted(
        "the object was refused, since it brings "
            + what
            + "; if you trust its sender, name the class or its package in the option"
            + " trustedPackages, which has "
            + new TreeSet<>(packages),
        e);
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
    private final int bytes;
    private final Limits limits;

    /** The depths of the tables that are being read, each within the one before it. */
    private final ArrayDeque<Long> tables = new ArrayDeque<>();

    /** The class that was refused. */
    @Nullable String unwanted;

    /** What else was refused, with the numbers. */
    @Nullable String excess;

    private final boolean isAllSeen;

    Stream(byte[] serialised, Limits limits, boolean isAllSeen) throws IOException {
      super(new ByteArrayInputStream(serialised));
      this.bytes = serialised.length;
      this.limits = limits;
      this.isAllSeen = isAllSeen;
    }

    ObjectInputFilter.Status check(ObjectInputFilter.FilterInfo info) {
      Class<?> type = info.serialClass();
      if (type != null && !trusts(elementOf(type))) {
        unwanted = elementOf(type).getName();
        return ObjectInputFilter.Status.REJECTED;
      }
      long left = bytes - info.streamBytes();
      long most = SMALL_TABLE + left * TABLE_TIMES;
      if (info.arrayLength() > most) {
        excess =
            "a table of "
                + info.arrayLength()
                + " places was asked for where "
                + left
                + " bytes follow, which give at most "
                + most;
        return ObjectInputFilter.Status.REJECTED;
      }
      if (info.depth() > limits.depth()) {
        excess = "it is nested more than " + limits.depth() + " objects deep, which is the limit";
        return ObjectInputFilter.Status.REJECTED;
      }
      if (!isAllSeen && isNestedTooOften(info)) {
        excess =
            "sets and maps are nested more than "
                + NESTED_TABLES
                + " deep behind an object with a form of its own, which is the limit";
        return ObjectInputFilter.Status.REJECTED;
      }
      return type == null ? ObjectInputFilter.Status.UNDECIDED : ObjectInputFilter.Status.ALLOWED;
    }

    /** A table asks for its places once; what is not deeper than it comes after it. */
    private boolean isNestedTooOften(ObjectInputFilter.FilterInfo info) {
      while (!tables.isEmpty() && tables.getLast() >= info.depth()) {
        tables.removeLast();
      }
      if (info.arrayLength() >= 0 && info.serialClass() == Map.Entry[].class) {
        tables.addLast(info.depth());
      }
      return tables.size() > NESTED_TABLES;
    }

    private Class<?> elementOf(Class<?> type) {
      Class<?> element = type;
      while (element.isArray()) {
        element = element.getComponentType();
      }
      return element;
    }

    private boolean trusts(Class<?> element) {
      return element.isPrimitive() || ObjectTrust.this.trusts(element.getName());
    }

    @Override
    protected Class<?> resolveClass(ObjectStreamClass description)
        throws IOException, ClassNotFoundException {
      String name = description.getName();
      ClassLoader loader = Thread.currentThread().getContextClassLoader();
      if (loader != null && ObjectTrust.this.trusts(name.replaceAll("^\\[+L|;$", ""))) {
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
        unwanted = "a proxy of " + String.join(", ", interfaces);
        throw new InvalidClassException(unwanted);
      }
      return super.resolveProxyClass(interfaces);
    }
  }
}
