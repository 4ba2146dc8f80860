package io.lightmq.embedded;

import jakarta.jms.BytesMessage;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageEOFException;
import jakarta.jms.MessageFormatException;
import jakarta.jms.MessageNotReadableException;
import jakarta.jms.MessageNotWriteableException;
import jakarta.jms.ObjectMessage;
import jakarta.jms.StreamMessage;
import jakarta.jms.TextMessage;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Section 3: which exception messages throw for which mistake. */
class MessageExceptionsTest extends MistakeTable {
  @TestFactory
  Stream<DynamicTest> everyMistakeHasItsException() {
    return tests(messages());
  }

  private static List<Row> messages() {
    return List.of(
        row(
            "3.5.4",
            MessageFormatException.class,
            "a property with the type of a list",
            w -> () -> w.session.createMessage().setObjectProperty("a", List.of())),
        row(
            "3.5.4",
            MessageFormatException.class,
            "a property that is a character",
            w -> () -> w.session.createMessage().setObjectProperty("a", 'c')),
        row(
            "3.5.4",
            MessageFormatException.class,
            "a string property read as a boolean is none",
            w -> {
              Message message = w.session.createMessage();
              message.setLongProperty("a", 1);
              return () -> message.getBooleanProperty("a");
            }),
        row(
            "3.5.4",
            NumberFormatException.class,
            "a word read as a number",
            w -> {
              Message message = w.session.createMessage();
              message.setStringProperty("a", "word");
              return () -> message.getIntProperty("a");
            }),
        row(
            "3.5.1",
            IllegalArgumentException.class,
            "a property without a name",
            w -> () -> w.session.createMessage().setStringProperty("", "x")),
        row(
            "3.10",
            MessageNotWriteableException.class,
            "a received message's properties",
            w -> {
              Message message = w.received(w.session.createMessage());
              return () -> message.setStringProperty("a", "x");
            }),
        row(
            "3.10",
            MessageNotWriteableException.class,
            "a received text",
            w -> {
              TextMessage message = w.received(w.session.createTextMessage("x"));
              return () -> message.setText("y");
            }),
        row(
            "3.10",
            MessageNotWriteableException.class,
            "a received map",
            w -> {
              MapMessage message = w.received(w.session.createMapMessage());
              return () -> message.setInt("a", 1);
            }),
        row(
            "3.10",
            MessageNotWriteableException.class,
            "a received object",
            w -> {
              ObjectMessage message = w.received(w.session.createObjectMessage("x"));
              return () -> message.setObject("y");
            }),
        row(
            "3.11.3",
            MessageNotReadableException.class,
            "bytes that are being written",
            w -> () -> w.session.createBytesMessage().readByte()),
        row(
            "3.11.3",
            MessageNotReadableException.class,
            "a stream that is being written",
            w -> () -> w.session.createStreamMessage().readObject()),
        row(
            "3.11.3",
            MessageNotWriteableException.class,
            "received bytes",
            w -> {
              BytesMessage message = w.received(w.session.createBytesMessage());
              return () -> message.writeByte((byte) 1);
            }),
        row(
            "3.11.3",
            MessageEOFException.class,
            "the end of bytes",
            w -> {
              BytesMessage message = w.received(w.session.createBytesMessage());
              return message::readInt;
            }),
        row(
            "3.11.3",
            MessageEOFException.class,
            "the end of a stream",
            w -> {
              StreamMessage message = w.received(w.session.createStreamMessage());
              return message::readObject;
            }),
        row(
            "3.11.3",
            MessageFormatException.class,
            "a stream's value of another type",
            w -> {
              StreamMessage message = w.session.createStreamMessage();
              message.writeBoolean(true);
              message.reset();
              return message::readInt;
            }),
        row(
            "3.11.3",
            MessageFormatException.class,
            "a map's value that is a list",
            w -> () -> w.session.createMapMessage().setObject("a", List.of())),
        row(
            "3.11.3",
            MessageFormatException.class,
            "a body asked for as something else",
            w -> () -> w.session.createTextMessage("x").getBody(Integer.class)),
        row(
            "3.11.3",
            MessageFormatException.class,
            "an object that cannot be serialised",
            w ->
                () -> w.session.createObjectMessage((java.io.Serializable) List.of(new Object()))));
  }
}
