package io.lightmq.tck.faults;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What a broker's log must not have when strangers attack it: errors, stack traces, control
 * characters.
 *
 * @param bytes how much was written
 * @param findings the first lines that must not be there, shown without their control characters
 */
record LogScan(long bytes, List<String> findings) {

  private static final Pattern ERROR = Pattern.compile("^\\S+ ERROR .*");
  private static final Pattern TRACE = Pattern.compile("^\\s+at [\\w.$/]+\\(.*");
  private static final Pattern THROWN =
      Pattern.compile(
          "^(?:Caused by: |Suppressed: |Exception in thread )?(?:\"[^\"]*\" )?"
              + "(?:[a-z]\\w*\\.)+[A-Z][\\w$]*(?:Exception|Error)(?::.*)?");
  private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\u2028\\u2029&&[^\\t]]");
  private static final int KEPT = 10;
  private static final int SHOWN = 300;
  private static final int CHUNK_BYTES = 1 << 20;

  /** Reads what the file has behind an offset. */
  static LogScan of(Path log, long offset) throws IOException {
    List<String> findings = new ArrayList<>();
    StringBuilder open = new StringBuilder();
    ByteBuffer buffer = ByteBuffer.allocate(CHUNK_BYTES);
    try (FileChannel file = FileChannel.open(log)) {
      long at = offset;
      int read = file.read(buffer, at);
      while (read > 0) {
        at += read;
        // A character that is cut in two becomes two wrong ones, none of which is looked for.
        open.append(new String(buffer.array(), 0, read, StandardCharsets.UTF_8));
        int end = open.lastIndexOf("\n") + 1;
        look(open.substring(0, end), findings);
        open.delete(0, end);
        read = file.read(buffer.clear(), at);
      }
      look(open.toString(), findings);
      return new LogScan(at - offset, List.copyOf(findings));
    }
  }

  private static void look(String text, List<String> findings) {
    // Not lines(): a lone carriage return is a finding, not the end of a line.
    for (String line : text.split("\n", -1)) {
      if (findings.size() < KEPT
          && (ERROR.matcher(line).matches()
              || TRACE.matcher(line).matches()
              || THROWN.matcher(line).matches()
              || CONTROL.matcher(line).find())) {
        String shown = CONTROL.matcher(line).replaceAll("?");
        findings.add(shown.substring(0, Math.min(SHOWN, shown.length())));
      }
    }
  }
}
