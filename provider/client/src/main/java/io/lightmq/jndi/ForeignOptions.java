package io.lightmq.jndi;

import io.lightmq.client.FactoryOptions;
import io.lightmq.wire.entry.NearNames;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns options as ActiveMQ, Artemis and Qpid files spell them into ours. An option has one of
 * three fates: it has the same meaning here and gets our name and unit; it only tunes the other
 * provider's transport and is left out, which is logged; or it is refused with the nearest name.
 */
final class ForeignOptions {
  /** Beyond any limit that ours allow: what others write as "without end". */
  private static final String A_DAY = "86400000";

  private static final Map<String, String> OURS = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  private static final Set<String> TUNING = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

  private static final Logger LOG = LoggerFactory.getLogger(ForeignOptions.class);

  private static final String MULTIPLIER = "reconnectBackOffMultiplier";

  static {
    same("user", "user", "userName");
    same("password", "password");
    same("clientId", "clientId", "clientID");
    same("prefetchMessages", "prefetchPolicy.all");
    same("sendTimeoutMillis", "sendTimeout");
    same("requestTimeoutMillis", "requestTimeout", "callTimeout");
    same("connectTimeoutMillis", "connectTimeout", "connectionTimeout", "connect-timeout-millis");
    same("reconnectDelayMillis", "initialReconnectDelay", "reconnectDelay", "retryInterval");
    same("maxReconnectDelayMillis", "maxReconnectDelay", "maxRetryInterval");
    same("reconnectAttempts", "maxReconnectAttempts", "reconnectAttempts");
    same("initialReconnectAttempts", "startupMaxReconnectAttempts", "initialConnectAttempts");
    same(MULTIPLIER, "reconnectDelayExponent", "backOffMultiplier", "retryIntervalMultiplier");
    same("prefetchBytes", "consumerWindowSize");
    same("trustedPackages", "trustedPackages");
    same("trustedPackages", "deserializationAllowList", "deserializationWhiteList");
    same("trustedPackages", "deserializationPolicy.allowList", "deserializationPolicy.whiteList");
    FactoryOptions.optionNames().forEach(name -> OURS.putIfAbsent(name, name));
    tuning("tcpNoDelay", "keepAlive", "tcpKeepAlive", "soTimeout", "soLinger", "trafficClass");
    tuning("socketBufferSize", "sendBufferSize", "receiveBufferSize", "tcpSendBufferSize");
    tuning("tcpReceiveBufferSize", "ioBufferSize", "useEpoll", "useKQueue", "threads", "trace");
    tuning("traceBytes", "traceFrames", "idleTimeout", "maxFrameSize", "drainTimeout", "maxLinger");
    tuning("warnAfterReconnectAttempts", "failoverAttempts", "ha");
    tuning("connectionTTL", "clientFailureCheckPeriod", "amqpIdleTimeout");
    tuning("callFailoverTimeout", "confirmationWindowSize", "producerWindowSize", "useGlobalPools");
    tuning("threadPoolMaxSize", "scheduledThreadPoolMaxSize", "cacheDestinations", "trackMessages");
    tuning("blockOnDurableSend", "blockOnNonDurableSend", "blockOnAcknowledge", "closeTimeout");
    tuning("useAsyncSend", "alwaysSyncSend", "forceAsyncSend", "forceSyncSend", "dispatchAsync");
    tuning("copyMessageOnSend", "optimizeAcknowledge", "alwaysSessionAsync", "useDaemonThread");
    tuning("watchTopicAdvisories", "cacheEnabled", "tightEncodingEnabled", "tcpNoDelayEnabled");
    tuning("stackTraceEnabled", "sizePrefixDisabled", "maxInactivityDuration", "useSyncSend");
    tuning("maxInactivityDurationInitalDelay", "maxInactivityDurationInitialDelay");
    tuning("backup", "backupPoolSize", "priorityBackup", "priorityURIs", "updateURIsSupported");
    tuning("updateURIsURL", "rebalanceUpdateURIs", "useCompression", "messagePrioritySupported");
    tuning("clientIDPrefix", "connectionIDPrefix", "optimizedMessageDispatch", "sendAcksAsync");
    tuning("optimizeAcknowledgeTimeOut", "optimizedAckScheduledAckInterval", "maxThreadPoolSize");
    tuning("objectMessageSerializationDefered", "warnAboutUnstartedConnectionTimeout");
    tuning("auditDepth", "auditMaximumProducerNumber", "compressionLevel");
    tuning("nioRemotingThreads", "remotingThreads", "batchDelay", "directDeliver", "useInvm");
  }

  private final Map<String, String> mapped = new LinkedHashMap<>();
  private final List<String> leftOut = new ArrayList<>();
  private boolean tls;

  /** Whether the waits before connecting again do not grow, whatever their multiplier is. */
  private boolean steady;

  private static void same(String ours, String... theirs) {
    for (String name : theirs) {
      OURS.put(name, ours);
    }
  }

  private static void tuning(String... names) {
    TUNING.addAll(List.of(names));
  }

  /**
   * Takes one option over.
   *
   * @throws IllegalArgumentException if it has no meaning here, or contradicts one taken before
   */
  void add(String name, String value) {
    String plain = plain(name);
    String lower = plain.toLowerCase(Locale.ROOT);
    if (lower.equals("type") || lower.equals("xa")) {
      return; // the one factory is all of them
    } else if (lower.equals("sslenabled")) {
      tls |= Boolean.parseBoolean(value);
    } else if (lower.equals("populatejmsxuserid")) {
      if (Boolean.parseBoolean(value)) {
        put(name, lower, "jmsxProperties", "JMSXUserID");
      }
    } else if (lower.equals("useexponentialbackoff") || lower.equals("usereconnectbackoff")) {
      steady |= value.trim().equalsIgnoreCase("false");
    } else if (TUNING.contains(plain)) {
      leftOut.add(name);
    } else {
      String ours = OURS.get(plain);
      if (ours == null) {
        throw unknown(name, plain);
      }
      boolean nothing = ours.equals("prefetchBytes") && value.trim().equals("0");
      put(name, lower, nothing ? "prefetchMessages" : ours, value);
    }
  }

  private void put(String name, String lower, String ours, String value) {
    String converted = convert(name, ours, value);
    String before = mapped.put(ours, converted);
    if (before == null || before.equals(converted) || lower.equals("reconnectdelay")) {
      return;
    }
    if (lower.equals("initialreconnectdelay")) { // the lasting delay counts, not the first
      mapped.put(ours, before);
      return;
    }
    throw new IllegalArgumentException(
        "the option " + ours + " is given twice with different values, the second time as " + name);
  }

  private static String convert(String name, String ours, String value) {
    String text = value.trim();
    if (name.toLowerCase(Locale.ROOT).endsWith("initialconnectattempts")) {
      return retries(text);
    }
    boolean none = text.equals("0") || text.equals("-1");
    boolean foreign = !name.equalsIgnoreCase(ours);
    if (!foreign || !none) {
      return text;
    }
    return switch (ours) {
      case "sendTimeoutMillis", "requestTimeoutMillis", "connectTimeoutMillis" -> A_DAY;
      case "reconnectDelayMillis" -> "1";
      case "prefetchMessages", "prefetchBytes" -> {
        if (text.equals("0")) {
          yield text; // nothing is prefetched
        }
        throw new IllegalArgumentException(
            "the option "
                + name
                + "="
                + text
                + " has no meaning here; prefetchMessages and prefetchBytes are limits");
      }
      default -> text;
    };
  }

  /** Where the first attempt counts too, there is one less to repeat it. */
  private static String retries(String attempts) {
    return attempts.matches("[1-9]\\d{0,9}")
        ? String.valueOf(Long.parseLong(attempts) - 1)
        : attempts;
  }

  /** Without the words before it that say whose option it is. */
  private static String plain(String name) {
    String plain = name;
    for (String prefix :
        List.of("failover.", "nested.", "jms.", "transport.", "wireFormat.", "amqp.")) {
      if (plain.regionMatches(true, 0, prefix, 0, prefix.length())) {
        plain = plain.substring(prefix.length());
      }
    }
    return plain;
  }

  /** What is done another way here; null if nothing is known about it. */
  private static @Nullable String otherWay(String lower) {
    if (lower.equals("redeliverypolicy.maximumredeliveries")) {
      return atTheBroker("--max-attempts N, which counts the first delivery too");
    }
    if (lower.startsWith("redeliverypolicy.")) {
      return atTheBroker("--redelivery-delay and --max-attempts");
    }
    if (lower.equals("nonblockingredelivery")) {
      return atTheBroker("--redelivery-order non-blocking");
    }
    boolean prefetch =
        lower.equals("prefetch")
            || lower.equals("prefetchsize")
            || lower.equals("consumer.prefetchsize")
            || lower.matches("prefetchpolicy\\..*prefetch");
    return prefetch ? "is prefetchMessages here, which is for all consumers of a factory" : null;
  }

  private static String atTheBroker(String setting) {
    return "is a setting of the destination here, at the broker: lightmq destination set queue NAME"
        + " "
        + setting;
  }

  private static IllegalArgumentException unknown(String name, String plain) {
    String other = otherWay(plain.toLowerCase(Locale.ROOT));
    if (other != null) {
      return new IllegalArgumentException("the option '" + name + "' " + other);
    }
    List<String> near = NearNames.of(plain, OURS.keySet(), 1);
    return new IllegalArgumentException(
        "the option '"
            + name
            + "' is unknown; "
            + (near.isEmpty()
                ? "known are " + String.join(", ", FactoryOptions.optionNames())
                : "did you mean " + near.get(0) + "?"));
  }

  /** Whether an option asks for TLS. */
  boolean tls() {
    return tls;
  }

  /** The options under our names, and a log line for those that were left out. */
  Map<String, String> take(String property) {
    if (!leftOut.isEmpty()) {
      LOG.info(
          "{}: left out {}, which only tune the transport of another provider", property, leftOut);
    }
    if (steady) {
      mapped.put(MULTIPLIER, "1");
    }
    return mapped;
  }
}
