package io.lightmq.samples.demo;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/**
 * Writes the demo's default file: the order book of an imaginary shop, the same on every machine.
 *
 * <p>It holds what real files hold: blank lines, equal lines, both kinds of line ends, bytes that
 * are not UTF-8, two lines of 1 MiB, and a last line without an end.
 */
final class SampleText {

  /** Lines in the default file. */
  static final int LINES = 120_000;

  private static final long SEED = 7654;
  private static final int LONG_LINE_BYTES = 1 << 20;
  private static final byte[] LATIN_1_LINE =
      "Grüße aus Köln\n".getBytes(StandardCharsets.ISO_8859_1);

  private static final String[] CUSTOMERS = {
    "Abdi",
    "Berger",
    "Chen",
    "Dvořák",
    "Evans",
    "Fukuda",
    "García",
    "Haddad",
    "Ibsen",
    "Jones",
    "Kowalski",
    "Lindqvist",
    "Moreau",
    "Nguyễn",
    "Okafor",
    "Papadopoulos",
    "Quispe",
    "Rossi"
  };
  private static final String[] GOODS = {
    "apples", "bread", "candles", "dates", "eggs", "figs", "garlic", "honey", "ink", "jam",
    "kettles", "lemons", "mugs", "nails", "olives", "paper", "quinces", "rice", "salt", "tea"
  };
  private static final String[] NOTES = {
    "leave at the door", "ring twice", "gift, please wrap", "same as last week", "urgent", ""
  };

  private SampleText() {}

  static void write(Path file, int lines) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".part");
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(temporary), 1 << 16)) {
      Random random = new Random(SEED);
      for (int line = 1; line < lines; line++) {
        out.write(line(line, lines, random));
      }
      out.write("end of the order book".getBytes(StandardCharsets.UTF_8));
    }
    Files.move(temporary, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
  }

  private static byte[] line(int number, int lines, Random random) {
    if (number == lines / 4 || number == 3 * (lines / 4)) {
      return longLine(random);
    }
    return switch (number % 97) {
      case 0 -> "\n".getBytes(StandardCharsets.US_ASCII);
      case 1 -> "\r\n".getBytes(StandardCharsets.US_ASCII);
      case 2 -> "--- no orders in this hour ---\n".getBytes(StandardCharsets.US_ASCII);
      case 3 -> LATIN_1_LINE.clone();
      case 4 -> new byte[] {(byte) 0xc3, 0x28, 0, (byte) 0xff, (byte) 0xfe, '\n'};
      default -> order(number, random).getBytes(StandardCharsets.UTF_8);
    };
  }

  private static String order(int number, Random random) {
    String customer = CUSTOMERS[random.nextInt(CUSTOMERS.length)];
    String good = GOODS[random.nextInt(GOODS.length)];
    String note = NOTES[random.nextInt(NOTES.length)];
    String end = random.nextInt(20) == 0 ? "\r\n" : "\n";
    return "%06d;%s;%s;%d;%s%s"
        .formatted(number, customer, good, 1 + random.nextInt(99), note, end);
  }

  private static byte[] longLine(Random random) {
    byte[] line = new byte[LONG_LINE_BYTES];
    for (int i = 0; i < line.length - 1; i++) {
      line[i] = (byte) ('a' + random.nextInt(26));
    }
    line[line.length - 1] = '\n';
    return line;
  }
}
