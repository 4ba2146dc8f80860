package io.lightmq.server.config;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Numbers of bytes with a unit, as people write them. */
final class ByteUnits {
  private static final Pattern FORM = Pattern.compile("(\\d{1,12})\\s*(|B|KiB|MiB|GiB|TiB)");

  private ByteUnits() {}

  /** The bytes, or -1 if the text is none of the accepted forms. */
  static long parse(String text) {
    Matcher matcher = FORM.matcher(text.strip());
    if (!matcher.matches()) {
      return -1;
    }
    long number = Long.parseLong(matcher.group(1));
    int shift =
        switch (matcher.group(2).toUpperCase(Locale.ROOT)) {
          case "KIB" -> 10;
          case "MIB" -> 20;
          case "GIB" -> 30;
          case "TIB" -> 40;
          default -> 0;
        };
    return number > Long.MAX_VALUE >> shift ? -1 : number << shift;
  }
}
