package io.lightmq.client.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.jms.JMSException;
import jakarta.jms.MessageFormatException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamConstants;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Currency;
import java.util.Date;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Serialised objects that cost more than they are long, and honest ones that look like them. */
@Timeout(30)
class HostileObjectsTest {
  private static final ObjectTrust NOBODY = new ObjectTrust(Set.of());
  private static final ObjectTrust ALL = new ObjectTrust(Set.of("*"));
  private static final ObjectTrust OWN =
      new ObjectTrust(Set.of("io.lightmq.client.message.HostileObjectsTest"));

  /** A class of the application. */
  static final class Node implements Serializable {
    private static final long serialVersionUID = 1L;
    Node next;
    Object value;

    static Node chain(int length) {
      Node first = null;
      for (int i = 0; i < length; i++) {
        Node node = new Node();
        node.next = first;
        first = node;
      }
      return first;
    }

    int length() {
      int length = 0;
      for (Node at = this; at != null; at = at.next) {
        length++;
      }
      return length;
    }
  }

  /** One that writes no fields but its own data. */
  static final class OwnForm implements Serializable {
    private static final long serialVersionUID = 1L;
    private int field = 5;
    private String other = "x";

    private void writeObject(ObjectOutputStream out) throws IOException {
      out.writeInt(field);
    }

    private void readObject(ObjectInputStream in) throws IOException {
      field = in.readInt();
      other = "read";
    }

    boolean isRead() {
      return field == 5 && other.equals("read");
    }
  }

  /** A key of the application's, with a hash of its own. */
  record Key(int number) implements Serializable {}

  static byte[] bytes(Object object) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(object);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static void refused(ObjectTrust trust, byte[] bytes, String... texts) {
    assertThatThrownBy(() -> trust.read(bytes))
        .isInstanceOf(MessageFormatException.class)
        .hasMessageContainingAll(texts);
  }

  // ---- what costs too much ----

  /** Sets of sets: the hash of each level asks twice for that of the next. */
  private static Set<Object> setsOfSets(int levels) {
    Set<Object> root = new HashSet<>();
    Set<Object> left = root;
    Set<Object> right = new HashSet<>();
    for (int i = 0; i < levels; i++) {
      Set<Object> nextLeft = new HashSet<>();
      Set<Object> nextRight = new HashSet<>();
      nextLeft.add("foo");
      left.add(nextLeft);
      left.add(nextRight);
      right.add(nextLeft);
      right.add(nextRight);
      left = nextLeft;
      right = nextRight;
    }
    return root;
  }

  @Test
  void setsOfSetsAreRefusedBeforeTheyAreHashed() {
    refused(NOBODY, bytes(setsOfSets(24)), "hash", "10000000");
    refused(OWN, bytes(setsOfSets(28)), "hash");
    refused(ALL, bytes(setsOfSets(28)), "hash");
  }

  private static byte[] behindHeader(int code, byte[] bytes) {
    ByteBuffer changed = ByteBuffer.allocate(bytes.length + 1);
    return changed.put(bytes, 0, 4).put((byte) code).put(bytes, 4, bytes.length - 4).array();
  }

  @ParameterizedTest
  @ValueSource(bytes = {ObjectStreamConstants.TC_RESET, ObjectStreamConstants.TC_EXCEPTION, 0x55})
  void aByteBehindTheHeaderDoesNotHideWhatFollows(byte code) throws Exception {
    byte[] bomb = behindHeader(code, bytes(setsOfSets(28)));
    for (ObjectTrust trust : List.of(NOBODY, OWN, ALL)) {
      refused(trust, bomb, "the object");
    }
    if (code == ObjectStreamConstants.TC_RESET) {
      assertThat(NOBODY.read(behindHeader(code, bytes("text")))).isEqualTo("text");
    }
  }

  @Test
  void anObjectWithAFormOfItsOwnDoesNotHideWhatFollows() {
    byte[] bomb = bytes(new ArrayList<>(List.of(new OwnForm(), setsOfSets(28))));
    for (ObjectTrust trust : List.of(OWN, ALL)) {
      refused(trust, bomb, "nested", "16");
    }
  }

  /** Texts of one hash: each of so many pairs is one of two. */
  private static String textOfEqualHash(int number) {
    StringBuilder text = new StringBuilder();
    for (int bit = 0; bit < 16; bit++) {
      text.append((number >> bit & 1) == 0 ? "Aa" : "BB");
    }
    return text.toString();
  }

  @Test
  void keysWithoutATreeAreRefusedByTheirNumber() {
    Map<Object, Object> table = new Hashtable<>();
    Map<Object, Object> properties = new Properties();
    Map<Object, Object> locales = new HashMap<>();
    Map<Object, Object> mixed = new HashMap<>();
    for (int i = 0; i < 8_000; i++) {
      table.put("key" + i, i);
      properties.put("key" + i, "value");
      locales.put(new Locale("", "", "v" + i), i);
      mixed.put(i % 2 == 0 ? "key" + i : Long.valueOf(i), i);
    }
    for (Map<Object, Object> each : List.of(table, properties, locales, mixed)) {
      refused(NOBODY, bytes(each), "8000", "keys");
      refused(NOBODY, bytes(new ConcurrentHashMap<>(locales)), "8000", "keys");
    }
    refused(NOBODY, bytes(new HashSet<>(locales.keySet())), "8000", "keys");
  }

  @Test
  void keysThatATreeOrdersAreRead() throws Exception {
    Properties properties = new Properties();
    Map<Object, Object> texts = new HashMap<>();
    Map<Object, Object> equal = new HashMap<>();
    Map<Object, Object> numbers = new HashMap<>();
    for (int i = 0; i < 100_000; i++) {
      texts.put("key" + i, i);
      numbers.put(i, i);
      if (i < 16_000) {
        equal.put(textOfEqualHash(i), i);
      }
      if (i < 1_000) {
        properties.setProperty(textOfEqualHash(i), "value");
      }
    }
    for (Map<?, ?> each : List.of(properties, texts, equal, numbers)) {
      assertThat(NOBODY.read(bytes(each))).isEqualTo(each);
    }
  }

  @Test
  void immutableTablesWhoseKeysMeetAreRefused() throws Exception {
    List<String> texts = new ArrayList<>();
    Map<String, Integer> map = new HashMap<>();
    for (int i = 0; i < 8_000; i++) {
      texts.add(textOfEqualHash(i));
      map.put(textOfEqualHash(i), i);
    }
    refused(NOBODY, bytes(Set.copyOf(texts)), "8000", "keys");
    refused(NOBODY, bytes(Map.copyOf(map)), "8000", "keys");
    List<Locale> locales = new ArrayList<>();
    for (int i = 0; i < 8_000; i++) {
      locales.add(new Locale("", "", "v" + i));
    }
    refused(NOBODY, bytes(Set.copyOf(locales)), "8000", "keys");
    assertThat(NOBODY.read(bytes(List.copyOf(locales)))).isEqualTo(locales);
  }

  @Test
  void immutableTablesOfHonestKeysAreRead() throws Exception {
    Map<String, Integer> map = new HashMap<>();
    for (int i = 0; i < 50_000; i++) {
      map.put("schl\u00fcssel \u20ac" + i, i);
    }
    assertThat(NOBODY.read(bytes(Map.copyOf(map)))).isEqualTo(map);
    assertThat(NOBODY.read(bytes(Set.copyOf(map.keySet())))).isEqualTo(map.keySet());
    List<String> meeting = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      meeting.add(textOfEqualHash(i));
    }
    assertThat(NOBODY.read(bytes(Set.copyOf(meeting)))).isEqualTo(Set.copyOf(meeting));
  }

  /** The same, built side by side, so that nothing is nested deeply in the stream. */
  @Test
  void listsThatShareListsAreRefusedWhenASetHasOne() throws Exception {
    List<Object> level = new ArrayList<>(List.of("leaf"));
    List<Object> all = new ArrayList<>(List.of(level));
    for (int i = 0; i < 25; i++) {
      level = new ArrayList<>(Arrays.asList(level, level));
      all.add(level);
    }
    assertThat(((List<?>) NOBODY.read(bytes(all)))).as("nothing hashes it").hasSize(26);
    Map<Object, Object> map = new HashMap<>();
    map.put(level, "value");
    all.add(map);
    refused(NOBODY, bytes(all), "hash");
  }

  @Test
  void keysOfEqualHashAreRefusedByTheirNumber() throws Exception {
    Map<Object, Object> few = new HashMap<>();
    Map<Object, Object> many = new HashMap<>();
    for (int i = 0; i < 4_096; i++) {
      List<Object> key = new ArrayList<>();
      for (int bit = 0; bit < 12; bit++) {
        key.add((i >> bit & 1) == 0 ? "Aa" : "BB");
      }
      many.put(key, i);
      if (i < 200) {
        few.put(key, i);
      }
    }
    assertThat(NOBODY.read(bytes((Serializable) few))).isEqualTo(few);
    refused(NOBODY, bytes(many), "4096", "keys");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "*"})
  void anArrayThatIsLongerThanTheStreamIsRefused(String trusted) {
    ObjectTrust trust = new ObjectTrust(trusted.isEmpty() ? Set.of() : Set.of(trusted));
    Object nested = new Object[0];
    for (int i = 0; i < 20; i++) {
      nested = new Object[] {nested};
    }
    byte[] bytes = bytes(nested);
    // Every array says that it has 4 Mi elements instead of 1.
    ByteBuffer view = ByteBuffer.wrap(bytes);
    for (int i = 0; i + 4 < bytes.length; i++) {
      if (view.getInt(i) == 1 && bytes[i + 4] == 0x75) {
        view.putInt(i, 4 << 20);
      }
    }
    refused(trust, bytes, "4194304", "bytes");
  }

  @Test
  void aTableThatIsLargerThanTheStreamIsRefused() {
    byte[] bytes = bytes(new HashMap<>(Map.of("key", "value")));
    int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("w\b") + 6;
    ByteBuffer.wrap(bytes).putInt(at, 1 << 28);
    refused(NOBODY, bytes, "bytes");
  }

  @Test
  void whatIsNestedTooDeeplyIsRefusedWithTheNumbers() {
    List<Object> nested = new ArrayList<>();
    for (int i = 0; i < 150; i++) {
      nested = new ArrayList<>(Collections.singletonList(nested));
    }
    byte[] bytes = bytes(nested);
    assertThatThrownBy(() -> NOBODY.read(bytes))
        .isInstanceOf(MessageFormatException.class)
        .hasMessageContainingAll("deep", "100")
        .hasMessageNotContaining("name its class");
  }

  @ParameterizedTest
  @ValueSource(ints = {65, 1_000})
  void aChainOfTrustedObjectsIsRead(int length) throws Exception {
    byte[] bytes = onBigStack(() -> bytes(Node.chain(length)));
    assertThat(((Node) OWN.read(bytes)).length()).isEqualTo(length);
    assertThat(((Node) ALL.read(bytes)).length()).isEqualTo(length);
    assertThatThrownBy(() -> NOBODY.read(bytes))
        .isInstanceOf(MessageFormatException.class)
        .hasMessageContainingAll("HostileObjectsTest$Node", "trustedPackages");
  }

  @Test
  void aChainThatIsTooDeepForAnybodyIsRefusedWithTheNumbers() throws Exception {
    byte[] bytes = onBigStack(() -> bytes(Node.chain(6_000)));
    refused(ALL, bytes, "deep", "5000");
  }

  @Test
  void anErrorIsAFormatException() {
    refused(ALL, bytes(new Failing()), "thrown by a test");
  }

  /** Fails with an error. */
  static final class Failing implements Serializable {
    private static final long serialVersionUID = 1L;

    private void readObject(ObjectInputStream in) {
      throw new OutOfMemoryError("thrown by a test");
    }
  }

  private interface Making {
    byte[] make();
  }

  /** Writing recurses too. */
  private static byte[] onBigStack(Making making) throws InterruptedException {
    byte[][] made = new byte[1][];
    Thread thread = new Thread(null, () -> made[0] = making.make(), "test-stack", 256L << 20);
    thread.start();
    thread.join();
    return made[0];
  }

  @Test
  void everyCutAndEveryFlippedBitIsAFormatExceptionOrReadable() {
    byte[] bytes = bytes(new ArrayList<>(List.of(new HashMap<>(Map.of("a", 1)), Set.of("b"), 2L)));
    for (int cut = 0; cut < bytes.length; cut++) {
      readable(Arrays.copyOf(bytes, cut));
    }
    for (int bit = 0; bit < bytes.length * 8; bit++) {
      byte[] flipped = bytes.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      readable(flipped);
    }
  }

  private static void readable(byte[] bytes) {
    try {
      NOBODY.read(bytes);
    } catch (JMSException e) {
      assertThat(e).isInstanceOf(MessageFormatException.class);
    }
  }

  // ---- what is read without being asked for ----

  private static final Comparable<?>[] COMPARABLES = {"b", "a"};

  static Stream<Object> values() {
    Map<DayOfWeek, String> days = new EnumMap<>(Map.of(DayOfWeek.MONDAY, "m"));
    Properties properties = new Properties();
    properties.setProperty("key", "value");
    LinkedHashMap<String, Object> tree = new LinkedHashMap<>();
    tree.put("list", new ArrayList<>(List.of(1, 2L, 3.0, 'c', (short) 4, (byte) 5, 6f, true)));
    tree.put("map", new TreeMap<>(Map.of("x", new HashMap<>(Map.of(1, new int[0].length)))));
    return Stream.of(
        "text",
        new BigDecimal("1.50"),
        BigInteger.TEN.pow(50),
        new Date(5),
        UUID.randomUUID(),
        URI.create("http://localhost/a?b"),
        Locale.CANADA_FRENCH,
        Currency.getInstance("EUR"),
        Duration.ofMillis(5),
        Instant.ofEpochMilli(5),
        LocalDate.of(2026, 1, 2),
        LocalDateTime.of(2026, 1, 2, 3, 4),
        LocalTime.NOON,
        MonthDay.of(2, 3),
        OffsetDateTime.of(2026, 1, 2, 3, 4, 5, 6, ZoneOffset.ofHours(2)),
        OffsetTime.of(1, 2, 3, 4, ZoneOffset.UTC),
        Period.ofDays(5),
        Year.of(2026),
        YearMonth.of(2026, 2),
        ZonedDateTime.of(LocalDateTime.of(2026, 1, 2, 3, 4), ZoneId.of("Europe/Vienna")),
        DayOfWeek.MONDAY,
        java.time.Month.MAY,
        new ArrayList<>(List.of("a", 1)),
        new LinkedList<>(List.of("a", 1)),
        new Vector<>(List.of("a", 1)),
        new HashMap<>(Map.of("a", 1, "b", 2)),
        new LinkedHashMap<>(Map.of("a", 1)),
        new TreeMap<>(Map.of("a", 1)),
        new TreeMap<>(Collections.reverseOrder()),
        new Hashtable<>(Map.of("a", 1)),
        new ConcurrentHashMap<>(Map.of("a", 1)),
        new HashSet<>(Set.of("a", 1)),
        new LinkedHashSet<>(Set.of("a")),
        new TreeSet<>(Set.of("a")),
        properties,
        days,
        EnumSet.of(DayOfWeek.MONDAY),
        EnumSet.noneOf(DayOfWeek.class),
        List.of(),
        List.of(1),
        List.of(1, 2, 3),
        Set.of(),
        Set.of(1),
        Set.of(1, 2, 3),
        Map.of(),
        Map.of("a", 1),
        Map.of("a", 1, "b", 2),
        Arrays.asList("a", "b"),
        Collections.emptyList(),
        Collections.emptySet(),
        Collections.emptyMap(),
        Collections.singletonList("a"),
        Collections.singleton("a"),
        Collections.singletonMap("a", 1),
        Collections.unmodifiableList(new ArrayList<>(List.of("a"))),
        Collections.unmodifiableList(new LinkedList<>(List.of("a"))),
        Collections.unmodifiableSet(new HashSet<>(Set.of("a"))),
        Collections.unmodifiableSortedSet(new TreeSet<>(Set.of("a"))),
        Collections.unmodifiableNavigableSet(new TreeSet<>(Set.of("a"))),
        Collections.unmodifiableMap(new HashMap<>(Map.of("a", 1))),
        Collections.unmodifiableSortedMap(new TreeMap<>(Map.of("a", 1))),
        Collections.unmodifiableNavigableMap(new TreeMap<>(Map.of("a", 1))),
        tree);
  }

  @ParameterizedTest
  @MethodSource("values")
  void valuesAndCollectionsOfTheJdkAreRead(Object value) throws Exception {
    assertThat(NOBODY.read(bytes(value))).isEqualTo(value);
    assertThat(NOBODY.read(bytes(new ArrayList<>(Arrays.asList(value, value, "and more")))))
        .isEqualTo(Arrays.asList(value, value, "and more"));
  }

  @Test
  void whatHasNoEqualsIsReadToo() throws Exception {
    assertThat((Collection<?>) NOBODY.read(bytes(new ArrayDeque<>(List.of(1, 2)))))
        .hasToString("[1, 2]");
    assertThat((Collection<?>) NOBODY.read(bytes(Collections.unmodifiableCollection(List.of(1)))))
        .hasToString("[1]");
    assertThat(NOBODY.read(bytes(new StringBuilder("abc")))).hasToString("abc");
    assertThat(NOBODY.read(bytes(new StringBuffer("abc")))).hasToString("abc");
    assertThat((Object[]) NOBODY.read(bytes(COMPARABLES.clone()))).containsExactly("b", "a");
    assertThat((int[][]) NOBODY.read(bytes(new int[][] {{1}, {2, 3}})))
        .isDeepEqualTo(new int[][] {{1}, {2, 3}});
    assertThat((byte[]) NOBODY.read(bytes(new byte[100_000]))).hasSize(100_000);
  }

  @Test
  void largeHonestCollectionsAreRead() throws Exception {
    Map<Object, Object> map = new HashMap<>();
    for (int i = 0; i < 50_000; i++) {
      map.put("key" + i, new ArrayList<>(List.of(i, "value" + i)));
    }
    assertThat(NOBODY.read(bytes(map))).isEqualTo(map);
    Map<Object, Object> keys = new HashMap<>();
    for (int i = 0; i < 50_000; i++) {
      keys.put(new Key(i), "value");
    }
    assertThat(OWN.read(bytes(keys))).isEqualTo(keys);
  }

  @Test
  void trustedClassesWithAFormOfTheirOwnAreRead() throws Exception {
    Node holder = Node.chain(2);
    holder.value = new ArrayList<>(List.of(new OwnForm(), "after"));
    Node read = (Node) OWN.read(bytes(holder));
    assertThat(((OwnForm) ((List<?>) read.value).get(0)).isRead()).isTrue();
  }

  @Test
  void graphsOfTrustedObjectsMayShareAndHaveCycles() throws Exception {
    Node first = Node.chain(1);
    for (int i = 0; i < 60; i++) {
      Node next = new Node();
      next.next = first;
      next.value = new HashSet<>(Set.of(first, "x"));
      first = next;
    }
    Node end = first;
    while (end.next != null) {
      end = end.next;
    }
    end.value = first;
    assertThat(((Node) OWN.read(bytes(first))).length()).isEqualTo(61);
  }
}
