package io.lightmq.core.selector;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A reserved word, which no identifier may be; section 3.8.1.1. */
enum Word {
  NULL,
  TRUE,
  FALSE,
  NOT,
  AND,
  OR,
  BETWEEN,
  LIKE,
  IN,
  IS,
  ESCAPE;

  /** The word of a name, whatever its case; null for any other name. */
  static @Nullable Word of(String name) {
    if (name.length() > 7) {
      return null;
    }
    String upper = name.toUpperCase(Locale.ROOT);
    for (Word word : values()) {
      if (word.name().equals(upper)) {
        return word;
      }
    }
    return null;
  }
}
