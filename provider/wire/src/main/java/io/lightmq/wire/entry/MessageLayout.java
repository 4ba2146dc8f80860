package io.lightmq.wire.entry;

/** Places, codes and limits of the encoded message that writer and reader share. */
final class MessageLayout {
  static final int VERSION = 1;

  static final int CRC = 0;
  static final int VERSION_AT = 4;
  static final int BODY_TYPE = 5;
  static final int PRIORITY = 6;
  static final int FLAGS = 7;
  static final int TIME_TO_LIVE = 8;
  static final int DELIVERY_DELAY = 16;
  static final int TIMESTAMP = 24;
  static final int ID_MOST = 32;
  static final int ID_LEAST = 40;
  static final int ID_NUMBER = 48;
  static final int HEADERS = 56;

  /** Fixed fields, the two lengths of empty sections. */
  static final int MIN_BYTES = HEADERS + 2;

  static final int PERSISTENT = 1;
  static final int HAS_TIMESTAMP = 2;
  static final int HAS_ID = 4;
  static final int NO_BODY = 8;
  static final int GROUPED = 16;

  /** The property that makes messages of one value a group; section 3.5.9 of the specification. */
  static final String GROUP_ID = "JMSXGroupID";

  static final int HEADER_CORRELATION_ID = 1;
  static final int HEADER_CORRELATION_BYTES = 2;
  static final int HEADER_TYPE = 3;
  static final int HEADER_REPLY_TO = 4;
  static final int HEADER_DESTINATION = 5;

  /** The most properties of a message. */
  static final int MAX_PROPERTIES = 10_000;

  /** The longest name of a property or map entry in bytes. */
  static final int MAX_NAME_BYTES = 4_096;

  static final int VALUE_NULL = 0;
  static final int VALUE_FALSE = 1;
  static final int VALUE_TRUE = 2;
  static final int VALUE_BYTE = 3;
  static final int VALUE_SHORT = 4;
  static final int VALUE_CHAR = 5;
  static final int VALUE_INT = 6;
  static final int VALUE_LONG = 7;
  static final int VALUE_FLOAT = 8;
  static final int VALUE_DOUBLE = 9;
  static final int VALUE_STRING = 10;
  static final int VALUE_BYTES = 11;

  private MessageLayout() {}
}
