package io.lightmq.client.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageFormatException;
import jakarta.jms.StreamMessage;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each type that is written, against each type that it is read as. */
class ConversionTest {
  private static final String BODY_TYPES =
      """
      boolean | boolean String
      byte    | byte short int long String
      short   | short int long String
      char    | char String
      int     | int long String
      long    | long String
      float   | float double String
      double  | double String
      String  | boolean byte short int long float double String
      byte[]  | byte[]
      """;

  private static final Map<String, Object> VALUES = new LinkedHashMap<>();

  static {
    VALUES.put("boolean", true);
    VALUES.put("byte", (byte) 1);
    VALUES.put("short", (short) 2);
    VALUES.put("char", 'c');
    VALUES.put("int", 3);
    VALUES.put("long", 4L);
    VALUES.put("float", 5.5f);
    VALUES.put("double", 6.5);
    VALUES.put("String", "7");
    VALUES.put("byte[]", new byte[] {8});
  }

  interface Reader {
    Object read(String as) throws JMSException;
  }

  private static void check(String written, Set<String> allowed, Set<String> all, Reader reader)
      throws JMSException {
    for (String as : all) {
      if (allowed.contains(as)) {
        assertThat(reader.read(as)).as("%s read as %s", written, as).isNotNull();
      } else {
        assertThatThrownBy(() -> reader.read(as))
            .as("%s read as %s", written, as)
            .isInstanceOf(MessageFormatException.class);
      }
    }
  }

  @ParameterizedTest
  @CsvSource(textBlock = BODY_TYPES, delimiter = '|')
  void aMapEntryIsReadAsTheTableSays(String written, String allowed) throws Exception {
    MapMessage message = new LightmqMapMessage();
    message.setObject("v", VALUES.get(written));
    check(
        written,
        Set.of(allowed.split(" ")),
        VALUES.keySet(),
        as ->
            switch (as) {
              case "boolean" -> message.getBoolean("v");
              case "byte" -> message.getByte("v");
              case "short" -> message.getShort("v");
              case "char" -> message.getChar("v");
              case "int" -> message.getInt("v");
              case "long" -> message.getLong("v");
              case "float" -> message.getFloat("v");
              case "double" -> message.getDouble("v");
              case "String" -> message.getString("v");
              default -> message.getBytes("v");
            });
  }

  @ParameterizedTest
  @CsvSource(textBlock = BODY_TYPES, delimiter = '|')
  void aStreamValueIsReadAsTheTableSaysAndStaysWhereItIsIfNot(String written, String allowed)
      throws Exception {
    StreamMessage message = new LightmqStreamMessage();
    message.writeObject(VALUES.get(written));
    message.writeInt(99);
    Set<String> fitting = Set.of(allowed.split(" "));
    message.reset();
    for (String as : VALUES.keySet()) {
      if (!fitting.contains(as)) {
        assertThatThrownBy(() -> readStream(message, as))
            .as("%s read as %s", written, as)
            .isInstanceOf(MessageFormatException.class);
      }
    }
    for (String as : fitting) {
      message.reset();
      assertThat(readStream(message, as)).as("%s read as %s", written, as).isNotNull();
      if (!as.equals("byte[]")) {
        assertThat(message.readInt()).isEqualTo(99);
      }
    }
  }

  private static Object readStream(StreamMessage message, String as) throws JMSException {
    return switch (as) {
      case "boolean" -> message.readBoolean();
      case "byte" -> message.readByte();
      case "short" -> message.readShort();
      case "char" -> message.readChar();
      case "int" -> message.readInt();
      case "long" -> message.readLong();
      case "float" -> message.readFloat();
      case "double" -> message.readDouble();
      case "String" -> message.readString();
      default -> message.readBytes(new byte[4]);
    };
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          boolean | boolean String
          byte    | byte short int long String
          short   | short int long String
          int     | int long String
          long    | long String
          float   | float double String
          double  | double String
          String  | boolean byte short int long float double String
          """,
      delimiter = '|')
  void aPropertyIsReadAsTheTableSays(String written, String allowed) throws Exception {
    Message message = new PlainMessage();
    message.setObjectProperty("v", VALUES.get(written));
    check(
        written,
        Set.of(allowed.split(" ")),
        Set.of("boolean", "byte", "short", "int", "long", "float", "double", "String"),
        as ->
            switch (as) {
              case "boolean" -> message.getBooleanProperty("v");
              case "byte" -> message.getByteProperty("v");
              case "short" -> message.getShortProperty("v");
              case "int" -> message.getIntProperty("v");
              case "long" -> message.getLongProperty("v");
              case "float" -> message.getFloatProperty("v");
              case "double" -> message.getDoubleProperty("v");
              default -> message.getStringProperty("v");
            });
  }
}
