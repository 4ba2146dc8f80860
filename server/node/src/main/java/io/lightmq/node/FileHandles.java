package io.lightmq.node;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import org.jspecify.annotations.Nullable;

/** How many file handles the process may have, and whether they are enough for its settings. */
final class FileHandles {
  /**
   * Journal, segments, overflow, the admin port and the Java runtime together, with some reserve.
   */
  static final int BESIDES_CONNECTIONS = 1_000;

  private FileHandles() {}

  /** The handles that the process may have; {@code Long.MAX_VALUE} if the system does not tell. */
  static long most() {
    OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
    return system instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }

  /** What to tell the operator if so many handles are too few; null if they are enough. */
  static @Nullable String warning(long most, NodeSettings settings) {
    int connections = settings.connections().counts().connections();
    long wanted = (long) connections + BESIDES_CONNECTIONS;
    if (most < 0 || most >= wanted) {
      return null;
    }
    return "The process may have "
        + most
        + " file handles (ulimit -n); with limits.connections = "
        + connections
        + " it should have "
        + wanted
        + ": without a free one no client can connect and no checkpoint be made until there is one";
  }
}
