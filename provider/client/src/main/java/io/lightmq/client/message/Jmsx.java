package io.lightmq.client.message;

import io.lightmq.wire.entry.Entry;
import io.lightmq.wire.entry.MessageEdit;
import io.lightmq.wire.entry.ProviderNames;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The properties of section 3.5.9 of the specification that this provider sets: {@code
 * JMSXDeliveryCount} on every received message, the others only where the connection factory asks
 * for them, since the names of a message's properties are the application's. What an application
 * sets under these names is not sent.
 *
 * @param asked the names that are asked for
 */
public record Jmsx(Set<String> asked) {
  /** The user of the connection that sent the message, as the broker has authenticated it. */
  public static final String USER_ID = "JMSXUserID";

  /** The transaction that the message was sent in, set by the sender's client. */
  public static final String PRODUCER_TRANSACTION = "JMSXProducerTXID";

  /** The transaction that the message was received in. */
  public static final String CONSUMER_TRANSACTION = "JMSXConsumerTXID";

  /** When the message was handed to the application, in milliseconds by this machine's clock. */
  public static final String RECEIVED_MILLIS = "JMSXRcvTimestamp";

  /** None but the delivery count. */
  public static final Jmsx NONE = new Jmsx(Set.of());

  private static final List<String> OPTIONAL =
      List.of(USER_ID, PRODUCER_TRANSACTION, CONSUMER_TRANSACTION, RECEIVED_MILLIS);

  public Jmsx {
    asked = Set.copyOf(asked);
  }

  /**
   * The names in a list, separated by commas.
   *
   * @throws IllegalArgumentException for a name that cannot be asked for
   */
  public static Jmsx parse(String list) {
    Set<String> names = new TreeSet<>();
    for (String part : list.split(",", -1)) {
      String name = part.trim();
      if (name.isEmpty() || name.equals(Properties.DELIVERY_COUNT)) {
        continue;
      }
      if (!OPTIONAL.contains(name)) {
        throw new IllegalArgumentException(
            "the option jmsxProperties has the name '"
                + name
                + "'; known are "
                + String.join(", ", OPTIONAL));
      }
      names.add(name);
    }
    return new Jmsx(names);
  }

  /** All names that messages may have, for ConnectionMetaData. */
  public List<String> names() {
    List<String> names =
        new ArrayList<>(List.of("JMSXGroupID", "JMSXGroupSeq", Properties.DELIVERY_COUNT));
    OPTIONAL.stream().filter(asked::contains).forEach(names::add);
    return names;
  }

  /** Whether the provider sets it, so that an application's value is not sent. */
  static boolean isSetHere(String name) {
    return ProviderNames.isOwned(name) || name.equals(PRODUCER_TRANSACTION);
  }

  /** Whether the provider sets none of these. */
  static boolean setsNone(Set<String> names) {
    for (String name : names) {
      if (isSetHere(name)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether a sender's bytes say what only this provider may say. A broker drops it; one of before
   * did not. What the broker writes on messages that it moves is its own.
   */
  static boolean isForged(String name) {
    return ProviderNames.isOwned(name) && !name.startsWith(MessageEdit.PREFIX);
  }

  /** The properties of a received message, beside those that its sender gave it. */
  Map<String, Object> received(ByteBuffer entry, int deliveries, @Nullable String transaction) {
    if (asked.isEmpty()) {
      return Map.of(Properties.DELIVERY_COUNT, deliveries);
    }
    Map<String, Object> set = new LinkedHashMap<>();
    set.put(Properties.DELIVERY_COUNT, deliveries);
    if (asked.contains(USER_ID) && Entry.userBytes(entry, 0) > 0) {
      set.put(USER_ID, Entry.user(entry, 0));
    }
    if (asked.contains(CONSUMER_TRANSACTION) && transaction != null) {
      set.put(CONSUMER_TRANSACTION, transaction);
    }
    if (asked.contains(RECEIVED_MILLIS)) {
      set.put(RECEIVED_MILLIS, System.currentTimeMillis());
    }
    return set;
  }

  /** Whether receivers see the transaction that a message was sent in, and senders tell it. */
  public boolean tellsProducerTransaction() {
    return asked.contains(PRODUCER_TRANSACTION);
  }
}
