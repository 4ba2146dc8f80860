package io.lightmq.core.door;

import io.lightmq.wire.entry.Printable;

/**
 * Builds the JSON that answers an admin verb: objects and arrays nest, names and texts are escaped.
 */
public final class JsonWriter {
  private final StringBuilder out = new StringBuilder(256);
  private boolean first = true;

  public JsonWriter beginObject() {
    separate();
    out.append('{');
    first = true;
    return this;
  }

  public JsonWriter endObject() {
    out.append('}');
    first = false;
    return this;
  }

  public JsonWriter beginArray() {
    separate();
    out.append('[');
    first = true;
    return this;
  }

  public JsonWriter endArray() {
    out.append(']');
    first = false;
    return this;
  }

  /** The name of the next value. */
  public JsonWriter name(String name) {
    separate();
    quote(name);
    out.append(':');
    first = true;
    return this;
  }

  public JsonWriter text(String name, String value) {
    name(name);
    separate();
    quote(value);
    return this;
  }

  public JsonWriter number(String name, long value) {
    name(name);
    separate();
    out.append(value);
    return this;
  }

  public JsonWriter flag(String name, boolean value) {
    name(name);
    separate();
    out.append(value);
    return this;
  }

  private void separate() {
    if (!first) {
      out.append(',');
    }
    first = false;
  }

  /** What Printable would escape is escaped here too, so that no terminal is moved by it. */
  private void quote(String text) {
    boolean plain = Printable.isPlain(text);
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (!plain && (Character.isSurrogate(c) || !Printable.isPlain(String.valueOf(c)))) {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }

  @Override
  public String toString() {
    return out.toString();
  }
}
