package io.lightmq.core.selector;

import io.lightmq.wire.entry.MessageId;
import io.lightmq.wire.entry.MessageScan;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The message that a selector looks at. The properties that it names are found in one walk, when
 * the first of them is asked for; headers are read where they lie.
 */
final class Row {
  private static final byte[] PERSISTENT = "PERSISTENT".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] NON_PERSISTENT = "NON_PERSISTENT".getBytes(StandardCharsets.US_ASCII);

  private final MessageScan scan = new MessageScan();
  private final ByteBuffer persistent = ByteBuffer.wrap(PERSISTENT);
  private final ByteBuffer nonPersistent = ByteBuffer.wrap(NON_PERSISTENT);
  private final ByteBuffer messageId = ByteBuffer.allocate(MessageId.MAX_TEXT_CHARS);

  /** The properties that the selector names, rising, so that many of them cost little. */
  private final byte[][] names;

  /** The slot of each name. */
  private final int[] slots;

  // What the message has of them, by slot.
  private final Kind[] kinds;
  private final long[] exacts;
  private final double[] approximates;
  private final int[] textAts;
  private final int[] textBytes;
  private boolean walked;

  /** For the two sides of a comparison; whatever else needs a register uses one of them. */
  final Operand left = new Operand();

  final Operand right = new Operand();

  Row(List<byte[]> propertyNames) {
    Integer[] order = new Integer[propertyNames.size()];
    Arrays.setAll(order, slot -> slot);
    Arrays.sort(
        order,
        Comparator.<Integer>comparingInt(slot -> propertyNames.get(slot).length)
            .thenComparing(propertyNames::get, Arrays::compare));
    names = Arrays.stream(order).map(propertyNames::get).toArray(byte[][]::new);
    slots = Arrays.stream(order).mapToInt(slot -> slot).toArray();
    kinds = new Kind[names.length];
    exacts = new long[names.length];
    approximates = new double[names.length];
    textAts = new int[names.length];
    textBytes = new int[names.length];
  }

  void open(ByteBuffer buffer, int at, int bytes) {
    scan.open(buffer, at, bytes);
    walked = false;
  }

  int selectableBytes() {
    return scan.selectableBytes();
  }

  void load(Field field, int slot, Operand into) {
    switch (field) {
      case PROPERTY -> property(slot, into);
      case PRIORITY -> into.exact(Kind.INT, scan.priority());
      case TIMESTAMP -> into.exact(Kind.LONG, scan.timestampMillis());
      case DELIVERY_MODE -> {
        if (scan.isPersistent()) {
          into.text(persistent, 0, PERSISTENT.length);
        } else {
          into.text(nonPersistent, 0, NON_PERSISTENT.length);
        }
      }
      case MESSAGE_ID -> {
        if (scan.hasMessageId()) {
          into.text(messageId, 0, scan.putMessageId(messageId));
        } else {
          into.none(Kind.NULL);
        }
      }
      case CORRELATION_ID -> header(scan.findCorrelationId(), into);
      case TYPE -> header(scan.findType(), into);
    }
  }

  private void header(boolean found, Operand into) {
    if (found) {
      into.text(scan.buffer(), scan.textAt(), scan.textBytes());
    } else {
      into.none(Kind.NULL);
    }
  }

  private void property(int slot, Operand into) {
    if (!walked) {
      walk();
      walked = true;
    }
    Kind kind = kinds[slot];
    switch (kind) {
      case STRING -> into.text(scan.buffer(), textAts[slot], textBytes[slot]);
      case FLOAT, DOUBLE -> into.approximate(kind, approximates[slot]);
      case BOOLEAN, INT, LONG -> into.exact(kind, exacts[slot]);
      default -> into.none(kind);
    }
  }

  private void walk() {
    Arrays.fill(kinds, Kind.NULL);
    int left = names.length;
    while (left > 0 && scan.nextProperty()) {
      int place = place();
      if (place >= 0) {
        take(slots[place]);
        left--;
      }
    }
  }

  /** Where the scanned property's name is among those that are wanted, or -1. */
  private int place() {
    int low = 0;
    int high = names.length - 1;
    while (low <= high) {
      int mid = (low + high) >>> 1;
      int order = scan.compareName(names[mid]);
      if (order == 0) {
        return mid;
      }
      low = order < 0 ? mid + 1 : low;
      high = order < 0 ? high : mid - 1;
    }
    return -1;
  }

  private void take(int slot) {
    switch (scan.kind()) {
      case NULL -> kinds[slot] = Kind.NULL;
      case BOOLEAN -> exact(slot, Kind.BOOLEAN);
      case INT -> exact(slot, Kind.INT);
      case LONG -> exact(slot, Kind.LONG);
      case FLOAT -> approximate(slot, Kind.FLOAT);
      case DOUBLE -> approximate(slot, Kind.DOUBLE);
      case STRING -> {
        kinds[slot] = Kind.STRING;
        textAts[slot] = scan.textAt();
        textBytes[slot] = scan.textBytes();
      }
    }
  }

  private void exact(int slot, Kind kind) {
    kinds[slot] = kind;
    exacts[slot] = scan.exact();
  }

  private void approximate(int slot, Kind kind) {
    kinds[slot] = kind;
    approximates[slot] = scan.approximate();
  }
}
