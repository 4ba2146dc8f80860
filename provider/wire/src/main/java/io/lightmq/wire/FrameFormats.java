package io.lightmq.wire;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The table of all frames' formats, each written and read side by side. {@code docs/protocol.md}
 * draws them; a golden file pins each.
 */
final class FrameFormats {
  private static final FrameFormats TABLE = new FrameFormats();

  private final Map<FrameType, Format<?>> byType = new EnumMap<>(FrameType.class);
  private final Map<Class<?>, Format<?>> byClass = new HashMap<>();

  /** Reads the fields behind the header. */
  interface Reads<F extends Frame> {
    F read(FrameReader in, int correlation);
  }

  /** How one type of frame is written and read. */
  record Format<F extends Frame>(
      FrameType type, Class<F> frame, BiConsumer<FrameWriter, F> writes, Reads<F> reads) {

    void write(FrameWriter out, Frame value) {
      writes.accept(out, frame.cast(value));
    }

    Frame read(FrameReader in, int correlation) {
      return reads.read(in, correlation);
    }
  }

  private FrameFormats() {
    ControlFormats.addTo(this);
    MessageFormats.addTo(this);
    TransactionFormats.addTo(this);
  }

  static Format<?> of(FrameType type) {
    return present(TABLE.byType.get(type), type);
  }

  static Format<?> of(Frame frame) {
    return present(TABLE.byClass.get(frame.getClass()), frame.getClass());
  }

  <F extends Frame> void add(
      FrameType type, Class<F> frame, BiConsumer<FrameWriter, F> writes, Reads<F> reads) {
    Format<F> format = new Format<>(type, frame, writes, reads);
    byType.put(type, format);
    byClass.put(frame, format);
  }

  private static Format<?> present(@Nullable Format<?> format, Object of) {
    if (format == null) {
      throw new AssertionError("no format for " + of);
    }
    return format;
  }
}
