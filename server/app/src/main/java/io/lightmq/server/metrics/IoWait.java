package io.lightmq.server.metrics;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** How much of the processors' time passes waiting for devices, from Linux's {@code /proc/stat}. */
final class IoWait {
  private static final int IO_WAIT_FIELD = 4;
  private static final int TIME_FIELDS = 8;

  private final Path file;
  private long lastWait = -1;
  private long lastTotal;

  IoWait(Path file) {
    this.file = file;
  }

  /**
   * The share since the call before, 0 to 1; NaN the first time and where the system does not tell.
   */
  double sinceLast() {
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (IOException notLinux) {
      return Double.NaN;
    }
    String[] fields =
        lines.isEmpty() ? new String[0] : lines.get(0).replaceFirst("^cpu\\s+", "").split("\\s+");
    if (fields.length <= IO_WAIT_FIELD) {
      return Double.NaN;
    }
    long total = 0;
    for (int i = 0; i < Math.min(TIME_FIELDS, fields.length); i++) {
      total += Long.parseLong(fields[i]);
    }
    long wait = Long.parseLong(fields[IO_WAIT_FIELD]);
    double share =
        lastWait < 0 || total <= lastTotal
            ? Double.NaN
            : Math.max(0, wait - lastWait) / (double) (total - lastTotal);
    lastWait = wait;
    lastTotal = total;
    return share;
  }
}
