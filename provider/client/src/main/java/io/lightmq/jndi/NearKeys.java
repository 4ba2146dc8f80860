package io.lightmq.jndi;

import io.lightmq.wire.entry.NearNames;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.naming.NamingException;
import org.jspecify.annotations.Nullable;

/**
 * Refuses a key that is a mistyped one of ours. An environment has keys of others too, so only what
 * is one or two letters away from ours counts; a word as short as {@code queue} only one.
 */
final class NearKeys {
  private static final String FACTORY = "connectionFactory.";
  private static final List<String> PREFIXES =
      List.of(
          FACTORY, "queue.", "topic.", "destination.", "property." + FACTORY, "default." + FACTORY);

  private static final Map<String, String> WHOLE =
      Map.of("connectionfactorynames", "connectionFactoryNames", "brokerurl", "brokerUrl");

  private static final int SHORT = 6;

  private NearKeys() {}

  static void check(Iterable<String> keys) throws NamingException {
    for (String key : keys) {
      String meant = meant(key);
      if (meant != null) {
        throw new NamingException(
            "property " + key + " is none of LightMQ's; the nearest is " + meant);
      }
    }
  }

  private static @Nullable String meant(String key) {
    String lower = key.toLowerCase(Locale.ROOT);
    for (Map.Entry<String, String> whole : WHOLE.entrySet()) {
      if (isNear(lower, whole.getKey())) {
        return whole.getValue();
      }
    }
    for (String prefix : PREFIXES) {
      int dots = (int) prefix.chars().filter(each -> each == '.').count();
      int end = 0;
      for (int i = 0; i < dots && end >= 0; i++) {
        end = lower.indexOf('.', end) + 1;
        end = end == 0 ? -1 : end;
      }
      if (end > 0 && end < key.length()) {
        String wanted = prefix.toLowerCase(Locale.ROOT);
        if (isNear(lower.substring(0, end - 1), wanted.substring(0, wanted.length() - 1))) {
          return prefix + key.substring(end);
        }
      }
    }
    return null;
  }

  private static boolean isNear(String word, String ours) {
    int worst = ours.length() <= SHORT ? 1 : 2;
    if (Math.abs(word.length() - ours.length()) > worst) {
      return false;
    }
    int distance = NearNames.distance(word, ours);
    return distance > 0 && distance <= worst;
  }
}
