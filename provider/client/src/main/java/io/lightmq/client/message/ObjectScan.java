package io.lightmq.client.message;

import static java.io.ObjectStreamConstants.SC_BLOCK_DATA;
import static java.io.ObjectStreamConstants.SC_EXTERNALIZABLE;
import static java.io.ObjectStreamConstants.SC_SERIALIZABLE;
import static java.io.ObjectStreamConstants.SC_WRITE_METHOD;
import static java.io.ObjectStreamConstants.STREAM_MAGIC;
import static java.io.ObjectStreamConstants.STREAM_VERSION;
import static java.io.ObjectStreamConstants.TC_ARRAY;
import static java.io.ObjectStreamConstants.TC_BLOCKDATA;
import static java.io.ObjectStreamConstants.TC_BLOCKDATALONG;
import static java.io.ObjectStreamConstants.TC_CLASS;
import static java.io.ObjectStreamConstants.TC_CLASSDESC;
import static java.io.ObjectStreamConstants.TC_ENDBLOCKDATA;
import static java.io.ObjectStreamConstants.TC_ENUM;
import static java.io.ObjectStreamConstants.TC_EXCEPTION;
import static java.io.ObjectStreamConstants.TC_LONGSTRING;
import static java.io.ObjectStreamConstants.TC_NULL;
import static java.io.ObjectStreamConstants.TC_OBJECT;
import static java.io.ObjectStreamConstants.TC_PROXYCLASSDESC;
import static java.io.ObjectStreamConstants.TC_REFERENCE;
import static java.io.ObjectStreamConstants.TC_RESET;
import static java.io.ObjectStreamConstants.TC_STRING;
import static java.io.ObjectStreamConstants.baseWireHandle;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Looks through a serialised object before anything of it is made, and adds up what reading it
 * would cost: an allow-list of classes bounds nothing of that. A set of sets of sets that share
 * their elements has 2,363 bytes, and its hash takes years.
 *
 * <p><b>What hashing costs.</b> The hash of a collection asks for those of its elements, each time
 * and as often as they occur. So each collection has a <em>weight</em>: 1 and the weights of its
 * elements, shared ones counted at every place. Reading a table costs the weights of its keys, and
 * for keys that are collections, whose hashes a sender can make equal, the square of their number
 * times the heaviest. A cycle counts once: hashing it overflows the stack, which ends it. Objects
 * of the application weigh 1; their hash is the application's affair.
 *
 * <p>It follows the grammar of the Java Object Serialization Specification, chapter 6. That does
 * not say whether a class with a {@code writeObject} has begun with its fields, as it should; what
 * does not fit is reported as {@link Malformed}, and only if all classes are of the JDK that means
 * that it cannot be read.
 */
final class ObjectScan {
  /** How deep it is nested, and whether all of it was seen: a form of its own may hide more. */
  record Seen(int depth, boolean isAll) {}

  /** The stream is not as the grammar has it, or a class has a form of its own. */
  static sealed class Malformed extends Exception {
    private static final long serialVersionUID = 1L;

    Malformed(String message) {
      super(message);
    }
  }

  /** It does not fit behind an object of an application's class, which may have its own form. */
  static final class OwnForm extends Malformed {
    private static final long serialVersionUID = 1L;

    OwnForm(String message) {
      super(message);
    }
  }

  /** Reading it would cost too much; the text has the numbers. */
  static final class TooCostly extends Exception {
    private static final long serialVersionUID = 1L;

    TooCostly(String message) {
      super(message);
    }
  }

  /** A class that may not be read. */
  static final class Untrusted extends Exception {
    private static final long serialVersionUID = 1L;
    private final String className;

    Untrusted(String className) {
      super(className);
      this.className = className;
    }

    String className() {
      return className;
    }
  }

  /** Collections that hash their keys when they are read: those with keys and values. */
  private static final Set<String> MAPS =
      Set.of("java.util.HashMap", "java.util.Hashtable", "java.util.concurrent.ConcurrentHashMap");

  /** What stands for {@code List.of}, {@code Set.of} and {@code Map.of}, as its one field says. */
  private static final String IMMUTABLE = "java.util.CollSer";

  private static final int IMMUTABLE_LIST = 1;
  private static final int IMMUTABLE_SET = 2;

  /** In {@code java.util}, but a value: its hash asks for no other. */
  private static final Set<String> VALUES =
      Set.of("java.util.Currency", "java.util.Date", "java.util.Locale", "java.util.UUID");

  /** What a tree of equal hashes orders, as each says of itself that it compares to its own. */
  private static final Set<String> ORDERED =
      Set.of(
          "java.lang.Boolean",
          "java.lang.Byte",
          "java.lang.Character",
          "java.lang.Double",
          "java.lang.Float",
          "java.lang.Integer",
          "java.lang.Long",
          "java.lang.Short",
          "java.math.BigDecimal",
          "java.math.BigInteger",
          "java.net.URI",
          "java.util.Date",
          "java.util.UUID");

  private static final String OTHER = "";
  private static final String APPLICATION = "of the application";

  private static final int NULL = -1;
  private static final int BLOCK = -2;
  private static final int END = -3;
  private static final long MOST = 1L << 60;

  private record Description(
      String name, int flags, List<Character> fields, int parent, boolean isCollection) {}

  private final ByteBuffer in;
  private final int maxDepth;
  private final int maxReferences;
  private final long maxWork;
  private final Predicate<String> trusts;
  private final Predicate<String> hasFormOfItsOwn;
  private @Nullable Description[] descriptions = new Description[16];
  private long[] weights = new long[16];
  private boolean[] collections = new boolean[16];
  private String[] kinds = new String[16];

  /** Where the texts begin, with their length in two bytes; 0 for what is no such text. */
  private int[] texts = new int[16];

  private boolean hasOwnForm;
  private boolean mayHide;
  private int handles;
  private int references;
  private int deepest;
  private long work;

  private ObjectScan(
      byte[] serialised,
      int maxDepth,
      int maxReferences,
      long maxWork,
      Predicate<String> trusts,
      Predicate<String> hasFormOfItsOwn) {
    this.maxDepth = maxDepth;
    this.maxReferences = maxReferences;
    this.in = ByteBuffer.wrap(serialised);
    this.maxWork = maxWork;
    this.trusts = trusts;
    this.hasFormOfItsOwn = hasFormOfItsOwn;
  }

  /**
   * Checks an object.
   *
   * @param maxWork the most that its tables may cost
   * @param trusts whether objects of a class may be read
   * @param hasFormOfItsOwn whether a class is the application's and reads what no grammar describes
   */
  static Seen check(
      byte[] serialised,
      int maxDepth,
      int maxReferences,
      long maxWork,
      Predicate<String> trusts,
      Predicate<String> hasFormOfItsOwn)
      throws Malformed, TooCostly, Untrusted {
    ObjectScan scan =
        new ObjectScan(serialised, maxDepth, maxReferences, maxWork, trusts, hasFormOfItsOwn);
    try {
      if (scan.in.getShort() != STREAM_MAGIC || scan.in.getShort() != STREAM_VERSION) {
        throw new Malformed("it does not begin as a serialised object does");
      }
      while (scan.in.get(scan.in.position()) == TC_RESET) {
        scan.in.get(); // nothing has a handle yet that it could clear
      }
      scan.object(1);
      return new Seen(scan.deepest, !scan.mayHide);
    } catch (Malformed e) {
      if (scan.hasOwnForm) {
        throw new OwnForm(String.valueOf(e.getMessage()));
      }
      throw e;
    } catch (BufferUnderflowException | IndexOutOfBoundsException e) {
      if (scan.hasOwnForm) {
        throw new OwnForm("it ends in the midst of an object");
      }
      throw new Malformed("it ends in the midst of an object");
    }
  }

  // ---- contents ----

  /** An object's handle, or {@link #NULL}. */
  private int object(int depth) throws Malformed, TooCostly, Untrusted {
    int content = content(depth);
    if (content < NULL) {
      throw new Malformed("data stands where an object should, at byte " + in.position());
    }
    return content;
  }

  private int content(int depth) throws Malformed, TooCostly, Untrusted {
    byte type = in.get();
    if (type != TC_ENDBLOCKDATA && type != TC_BLOCKDATA && type != TC_BLOCKDATALONG) {
      if (depth > maxDepth) {
        throw new TooCostly(
            "it is nested more than " + maxDepth + " objects deep, which is the limit");
      }
      deepest = Math.max(deepest, depth);
      if (++references > maxReferences) {
        throw new TooCostly(
            "it has more than " + maxReferences + " objects and references, which is the limit");
      }
    }
    switch (type) {
      case TC_NULL:
        return NULL;
      case TC_REFERENCE:
        return reference();
      case TC_STRING:
        int begin = in.position();
        skip(Short.toUnsignedInt(in.getShort()));
        int text = addOf("java.lang.String");
        texts[text] = begin;
        return text;
      case TC_LONGSTRING:
        skip(in.getLong());
        return addOf("java.lang.String");
      case TC_CLASSDESC, TC_PROXYCLASSDESC:
        return description(type, depth);
      case TC_CLASS:
        described(depth);
        return add(null, 1, false);
      case TC_ENUM:
        int constant = addOf(described(depth).name());
        object(depth + 1);
        return constant;
      case TC_ARRAY:
        return array(depth);
      case TC_OBJECT:
        return instance(depth);
      case TC_BLOCKDATA:
        skip(Byte.toUnsignedInt(in.get()));
        return BLOCK;
      case TC_BLOCKDATALONG:
        skip(in.getInt());
        return BLOCK;
      case TC_ENDBLOCKDATA:
        return END;
      case TC_EXCEPTION:
        throw new TooCostly("its sender failed while it wrote it, and what follows is never read");
      default:
        throw new Malformed("type " + type + " at byte " + (in.position() - 1));
    }
  }

  private void skip(long bytes) throws Malformed {
    if (bytes < 0 || bytes > in.remaining()) {
      throw new Malformed(
          "something of " + bytes + " bytes where only " + in.remaining() + " follow");
    }
    in.position(in.position() + (int) bytes);
  }

  private String text() throws Malformed {
    int length = Short.toUnsignedInt(in.getShort());
    int at = in.position();
    skip(length);
    return new String(in.array(), at, length, StandardCharsets.UTF_8);
  }

  private int reference() throws Malformed {
    int handle = in.getInt() - baseWireHandle;
    if (handle < 0 || handle >= handles) {
      throw new Malformed("a reference to object " + handle + " of " + handles);
    }
    return handle;
  }

  private int add(@Nullable Description description, long weight, boolean isCollection) {
    if (handles == weights.length) {
      descriptions = Arrays.copyOf(descriptions, 2 * handles);
      weights = Arrays.copyOf(weights, 2 * handles);
      collections = Arrays.copyOf(collections, 2 * handles);
      kinds = Arrays.copyOf(kinds, 2 * handles);
      texts = Arrays.copyOf(texts, 2 * handles);
    }
    descriptions[handles] = description;
    weights[handles] = weight;
    collections[handles] = isCollection;
    kinds[handles] = OTHER;
    return handles++;
  }

  /** A value that orders itself among its own kind. */
  private int addOf(String kind) {
    int handle = add(null, 1, false);
    kinds[handle] = kind;
    return handle;
  }

  // ---- classes ----

  /** The description that an object begins with. */
  private Description described(int depth) throws Malformed, TooCostly, Untrusted {
    Description found = descriptionOf(object(depth));
    if (found == null) {
      throw new Malformed("an object without a class");
    }
    return found;
  }

  private @Nullable Description descriptionOf(int handle) throws Malformed {
    if (handle == NULL) {
      return null;
    }
    Description found = descriptions[handle];
    if (found == null) {
      throw new Malformed("object " + handle + " is no class");
    }
    return found;
  }

  private int description(byte type, int depth) throws Malformed, TooCostly, Untrusted {
    String name = "";
    int flags = SC_SERIALIZABLE;
    List<Character> fields = new ArrayList<>();
    int handle;
    if (type == TC_PROXYCLASSDESC) {
      handle = add(null, 1, false);
      for (int left = in.getInt(); left > 0; left--) {
        text();
      }
    } else {
      name = text();
      String element = name.replaceAll("^\\[+L?|;$", "");
      if (!(name.startsWith("[") && element.length() == 1) && !trusts.test(element)) {
        throw new Untrusted(element);
      }
      in.getLong(); // the serial version
      handle = add(null, 1, false);
      flags = in.get();
      for (int left = Short.toUnsignedInt(in.getShort()); left > 0; left--) {
        char fieldType = (char) in.get();
        text();
        if (fieldType == 'L' || fieldType == '[') {
          object(depth + 1); // the name of its class
        }
        fields.add(fieldType);
      }
    }
    boolean isCollection = name.startsWith("java.util.") && !VALUES.contains(name);
    contentsToEnd(depth + 1);
    // Known before its parent, which may not be itself.
    int parent = object(depth + 1);
    if (parent == handle) {
      throw new Malformed(name + " extends itself");
    }
    descriptionOf(parent);
    descriptions[handle] = new Description(name, flags, fields, parent, isCollection);
    return handle;
  }

  private List<Integer> contentsToEnd(int depth) throws Malformed, TooCostly, Untrusted {
    List<Integer> objects = new ArrayList<>();
    for (int content = content(depth); content != END; content = content(depth)) {
      if (content != BLOCK) {
        objects.add(content);
      }
    }
    return objects;
  }

  // ---- arrays and objects ----

  private int array(int depth) throws Malformed, TooCostly, Untrusted {
    Description description = described(depth);
    int handle = add(null, 1, false);
    int length = in.getInt();
    char type = description.name().length() < 2 ? 'L' : description.name().charAt(1);
    long bytes = (long) length * leastBytes(type);
    if (length < 0 || bytes > in.remaining()) {
      throw new TooCostly(
          "an array says that it has "
              + length
              + " elements, which are at least "
              + bytes
              + " bytes, but "
              + in.remaining()
              + " bytes follow");
    }
    if (type != 'L' && type != '[') {
      skip(bytes);
      return handle;
    }
    long weight = 1;
    for (int i = 0; i < length; i++) {
      weight = sum(weight, weightOf(object(depth + 1)));
    }
    weights[handle] = weight;
    return handle;
  }

  private static int leastBytes(char type) throws Malformed {
    return switch (type) {
      case 'B', 'Z', 'L', '[' -> 1;
      case 'C', 'S' -> 2;
      case 'F', 'I' -> 4;
      case 'D', 'J' -> 8;
      default -> throw new Malformed("a field or array of type " + type);
    };
  }

  private long weightOf(int handle) {
    return handle == NULL ? 0 : weights[handle];
  }

  private static long sum(long left, long right) {
    return Math.min(MOST, left + right);
  }

  private static long product(long left, long right) {
    return left != 0 && right > MOST / left ? MOST : left * right;
  }

  private int instance(int depth) throws Malformed, TooCostly, Untrusted {
    Description own = described(depth);
    int handle = add(null, 1, own.isCollection());
    kinds[handle] =
        !own.name().startsWith("java.")
            ? APPLICATION
            : ORDERED.contains(own.name()) ? own.name() : OTHER;
    List<Description> classes = new ArrayList<>();
    for (Description at = own; at != null; at = descriptionOf(at.parent())) {
      classes.add(at);
    }
    long weight = 1;
    for (int i = classes.size() - 1; i >= 0; i--) {
      weight = sum(weight, partOf(classes.get(i), depth + 1));
    }
    if (own.isCollection()) {
      weights[handle] = weight;
    }
    return handle;
  }

  /** What the part of an object that belongs to one of its classes weighs. */
  private long partOf(Description description, int depth) throws Malformed, TooCostly, Untrusted {
    long weight = 0;
    int tag = 0;
    boolean external = (description.flags() & SC_EXTERNALIZABLE) != 0;
    boolean own = hasFormOfItsOwn.test(description.name());
    mayHide |= own;
    hasOwnForm |= own && (external || (description.flags() & SC_WRITE_METHOD) != 0);
    if (!external) {
      for (char type : description.fields()) {
        if (type == 'L' || type == '[') {
          weight = sum(weight, weightOf(object(depth)));
        } else {
          tag =
              description.name().equals(IMMUTABLE) && type == 'I' ? in.getInt(in.position()) : tag;
          skip(leastBytes(type));
        }
      }
    } else if ((description.flags() & SC_BLOCK_DATA) == 0) {
      throw new Malformed(description.name() + " has a form of its own");
    }
    if (external || (description.flags() & SC_WRITE_METHOD) != 0) {
      List<Integer> objects = contentsToEnd(depth);
      for (int each : objects) {
        weight = sum(weight, weightOf(each));
      }
      if (MAPS.contains(description.name())) {
        hashed(objects, 2);
        compared(objects, 2, description.name().equals("java.util.Hashtable"));
      } else if (description.name().equals("java.util.HashSet")) {
        hashed(objects, 1);
        compared(objects, 1, false);
      } else if (description.name().equals(IMMUTABLE) && tag != IMMUTABLE_LIST) {
        int each = tag == IMMUTABLE_SET ? 1 : 2;
        hashed(objects, each);
        probed(objects, each);
      }
    }
    return weight;
  }

  /** Adds up what a table costs: its keys are the first of so many each. */
  private void hashed(List<Integer> objects, int each) throws TooCostly {
    long collectionKeys = 0;
    long heaviest = 0;
    for (int i = 0; i < objects.size(); i += each) {
      int key = objects.get(i);
      long weight = weightOf(key);
      work = sum(work, weight);
      if (key != NULL && collections[key]) {
        collectionKeys++;
        heaviest = Math.max(heaviest, weight);
      }
    }
    work = sum(work, product(product(collectionKeys, collectionKeys), heaviest));
    if (work > maxWork) {
      throw new TooCostly(
          "its sets and maps would take "
              + (work == MOST ? "more than " : "")
              + work
              + " steps to hash and compare"
              + (collectionKeys == 0
                  ? ""
                  : ", one of them with " + collectionKeys + " keys that are collections")
              + "; the limit is "
              + maxWork);
    }
  }

  /**
   * Adds up the comparisons of keys whose hashes a sender can make equal. A Hashtable has chains,
   * whose number its sender chooses too. The others make trees of long chains, which help only keys
   * that are ordered among themselves.
   */
  private void compared(List<Integer> objects, int each, boolean hasChains) throws TooCostly {
    long keys = 0;
    long largest = 0;
    Map<String, Long> ordered = new HashMap<>();
    for (int i = 0; i < objects.size(); i += each) {
      int key = objects.get(i);
      if (key == NULL || collections[key]) {
        continue;
      }
      keys++;
      if (!kinds[key].equals(OTHER)) {
        largest = Math.max(largest, ordered.merge(kinds[key], 1L, Long::sum));
      }
    }
    work = sum(work, hasChains ? product(keys, keys) / 2 : product(keys, keys - largest));
    checkComparisons(keys);
  }

  private void checkComparisons(long keys) throws TooCostly {
    if (work > maxWork) {
      throw new TooCostly(
          "its sets and maps would take up to "
              + work
              + " steps to compare keys, one of them with "
              + keys
              + " keys whose hashes may be equal; the limit is "
              + maxWork);
    }
  }

  /** Adds up what it costs to find a place for each key of a table without chains or trees. */
  private void probed(List<Integer> objects, int each) throws TooCostly {
    ProbedTable table = new ProbedTable(objects.size() / each + 1);
    for (int i = 0; i < objects.size(); i += each) {
      int key = objects.get(i);
      if (key == NULL || collections[key]) {
        continue;
      }
      int text = texts[key];
      if (text > 0) {
        table.text(in.array(), text + Short.BYTES, Short.toUnsignedInt(in.getShort(text)));
      } else {
        table.other();
      }
    }
    work = sum(work, table.steps());
    checkComparisons(table.keys());
  }
}
