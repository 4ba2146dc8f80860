package io.lightmq.core.selector;

import org.jspecify.annotations.Nullable;

/** Where the value of an identifier comes from; section 3.8.1.1 names the headers. */
enum Field {
  PROPERTY(null),
  DELIVERY_MODE("JMSDeliveryMode"),
  PRIORITY("JMSPriority"),
  MESSAGE_ID("JMSMessageID"),
  TIMESTAMP("JMSTimestamp"),
  CORRELATION_ID("JMSCorrelationID"),
  TYPE("JMSType");

  private final @Nullable String header;

  Field(@Nullable String header) {
    this.header = header;
  }

  /** The field of an identifier; null for a name that no selector may use. */
  static @Nullable Field of(String name) {
    for (Field field : values()) {
      if (name.equals(field.header)) {
        return field;
      }
    }
    boolean reserved =
        name.startsWith("JMS") && !name.startsWith("JMSX") && !name.startsWith("JMS_");
    return reserved ? null : PROPERTY;
  }
}
