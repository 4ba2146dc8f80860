package io.lightmq.core.shard;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.zip.CRC32;

/**
 * All that can be reached from an object, as lines of text: equal pictures say that nothing of it
 * has changed. Looks into the broker's own types, collections, arrays and buffers, and not into the
 * simulation or the test.
 */
final class ObjectPicture {
  private static final Map<Class<?>, List<Field>> FIELDS = new HashMap<>();

  private final Predicate<Field> passedOver;
  private final IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>();
  private final ArrayDeque<Object> open = new ArrayDeque<>();
  private final List<String> lines = new ArrayList<>();
  private StringBuilder line = new StringBuilder();

  private ObjectPicture(Predicate<Field> passedOver) {
    this.passedOver = passedOver;
  }

  /** What can be reached, but for some fields. */
  static List<String> of(Object root, Predicate<Field> passedOver) throws IllegalAccessException {
    ObjectPicture picture = new ObjectPicture(passedOver);
    picture.add(root);
    while (!picture.open.isEmpty()) {
      picture.look(picture.open.remove());
    }
    return picture.lines;
  }

  private void look(Object at) throws IllegalAccessException {
    line = new StringBuilder(at.getClass().getName()).append(numbers.get(at)).append(':');
    if (at instanceof ByteBuffer bytes) {
      line.append(bytes.position()).append('-').append(bytes.limit()).append(' ');
      CRC32 crc = new CRC32();
      crc.update(bytes.duplicate().clear());
      line.append(crc.getValue());
    } else if (at instanceof Map<?, ?> map) {
      for (Map.Entry<?, ?> each : map.entrySet()) {
        add(each.getKey());
        add(each.getValue());
      }
    } else if (at instanceof Collection<?> all) {
      for (Object each : all) {
        add(each);
      }
    } else if (at.getClass().isArray()) {
      for (int i = 0; i < Array.getLength(at); i++) {
        add(Array.get(at, i));
      }
    } else {
      for (Field field : fields(at.getClass())) {
        if (!passedOver.test(field)) {
          line.append(field.getName()).append('=');
          add(field.get(at));
        }
      }
    }
    lines.add(line.toString());
  }

  private void add(Object value) {
    if (isLeaf(value)) {
      line.append(value).append(' ');
      return;
    }
    Integer known = numbers.get(value);
    if (known == null) {
      known = numbers.size();
      numbers.put(value, known);
      if (isOpened(value)) {
        open.add(value);
      }
    }
    line.append('@').append(known).append(' ');
  }

  private static boolean isLeaf(Object value) {
    return value == null
        || value instanceof Number
        || value instanceof String
        || value instanceof Boolean
        || value instanceof Character
        || value instanceof UUID
        || value instanceof BitSet
        || value instanceof Enum<?>;
  }

  private static boolean isOpened(Object value) {
    String type = value.getClass().getName();
    return value instanceof ByteBuffer
        || value instanceof Map<?, ?>
        || value instanceof Collection<?>
        || value.getClass().isArray()
        || (type.startsWith("io.lightmq.")
            && !type.startsWith("io.lightmq.core.sim.")
            && !value.getClass().getSimpleName().endsWith("Test"));
  }

  private static List<Field> fields(Class<?> type) {
    return FIELDS.computeIfAbsent(
        type,
        of -> {
          List<Field> found = new ArrayList<>();
          for (Class<?> each = of; each != null; each = each.getSuperclass()) {
            if (each.getName().startsWith("io.lightmq.")) {
              for (Field field : each.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                  field.setAccessible(true);
                  found.add(field);
                }
              }
            }
          }
          return found;
        });
  }
}
