package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.ReferenceCounted;
import jakarta.jms.JMSException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The Netty that the application has. A build that manages its version may bring another one than
 * ours, or none; what does not fit is told when the first connection is made.
 */
final class NettyPresent {
  private static final int[] OLDEST = {4, 1, 100};
  private static final Pattern VERSION = Pattern.compile("(\\d{1,6})\\.(\\d{1,6})\\.(\\d{1,6}).*");
  private static final String NEEDED =
      "the LightMQ client needs Netty 4.1.100 or later, or any 4.2 (netty-buffer, netty-codec,"
          + " netty-common, netty-handler, netty-transport); the class path has ";

  private NettyPresent() {}

  /** Something of Netty is missing or is not what it has to be. */
  static JMSException unfit(LinkageError cause) {
    String found;
    try {
      found = found();
    } catch (LinkageError e) {
      found = "no Netty, or a part of it";
    }
    return JmsFaults.settings(NEEDED + found + ": " + cause, cause);
  }

  /**
   * Looks at the versions.
   *
   * @throws LinkageError if there is no Netty
   */
  static void check() throws JMSException {
    for (Class<?> each : parts()) {
      String version = version(each);
      if (version != null && isTooOld(version)) {
        throw JmsFaults.settings(NEEDED + found());
      }
    }
  }

  /** A class of each part. */
  private static List<Class<?>> parts() {
    return List.of(
        ReferenceCounted.class, ByteBuf.class, EventLoop.class, ByteToMessageDecoder.class);
  }

  private static String found() {
    StringBuilder found = new StringBuilder();
    for (Class<?> each : parts()) {
      Package of = each.getPackage();
      found
          .append(found.isEmpty() ? "" : ", ")
          .append(of.getImplementationTitle())
          .append(' ')
          .append(of.getImplementationVersion());
    }
    return found.toString();
  }

  /** Null if it is not told, as in a jar that holds several things. */
  private static @Nullable String version(Class<?> part) {
    String title = part.getPackage().getImplementationTitle();
    return title != null && title.startsWith("Netty/")
        ? part.getPackage().getImplementationVersion()
        : null;
  }

  static boolean isTooOld(String version) {
    Matcher numbers = VERSION.matcher(version);
    if (!numbers.matches()) {
      return false;
    }
    for (int i = 0; i < OLDEST.length; i++) {
      int difference = Integer.parseInt(numbers.group(i + 1)) - OLDEST[i];
      if (difference != 0) {
        return difference < 0;
      }
    }
    return false;
  }
}
