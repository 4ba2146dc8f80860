package io.lightmq.samples.demo;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a file into lines without interpreting them.
 *
 * <p>A line is all bytes up to and with the next line feed, so that carriage returns, bytes in any
 * encoding and a last line without an end stay as they are, and the lines in order are the file.
 */
final class LineReader implements Closeable {

  /** The broker takes messages up to 4 MiB; this leaves room for headers. */
  static final int MAX_LINE_BYTES = (4 << 20) - (16 << 10);

  private final InputStream in;
  private long lines;

  LineReader(InputStream in) {
    this.in = new BufferedInputStream(in, 1 << 16);
  }

  static LineReader open(Path file) throws IOException {
    return new LineReader(Files.newInputStream(file));
  }

  /** The next line, or null at the end of the file. */
  byte @Nullable [] next() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(128);
    int octet = in.read();
    while (octet >= 0) {
      line.write(octet);
      if (octet == '\n') {
        break;
      }
      if (line.size() > MAX_LINE_BYTES) {
        throw new IOException(
            "line %,d is longer than %,d bytes, which does not fit into one message; wrap the file"
                .formatted(lines + 1, MAX_LINE_BYTES));
      }
      octet = in.read();
    }
    if (line.size() == 0) {
      return null;
    }
    lines++;
    return line.toByteArray();
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
