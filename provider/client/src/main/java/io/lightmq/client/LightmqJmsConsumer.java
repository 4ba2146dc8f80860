package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageListener;
import jakarta.jms.StreamMessage;
import org.jspecify.annotations.Nullable;

/** A consumer of the simplified API. */
final class LightmqJmsConsumer implements JMSConsumer {
  private final LightmqConsumer consumer;

  LightmqJmsConsumer(LightmqConsumer consumer) {
    this.consumer = consumer;
  }

  @Override
  public @Nullable String getMessageSelector() {
    return Unchecked.ask(consumer::getMessageSelector);
  }

  @Override
  public @Nullable MessageListener getMessageListener() {
    return Unchecked.ask(consumer::getMessageListener);
  }

  @Override
  public void setMessageListener(@Nullable MessageListener listener) {
    Unchecked.run(() -> consumer.setMessageListener(listener));
  }

  @Override
  public @Nullable Message receive() {
    return Unchecked.ask(consumer::receive);
  }

  @Override
  public @Nullable Message receive(long timeoutMillis) {
    return Unchecked.ask(() -> consumer.receive(timeoutMillis));
  }

  @Override
  public @Nullable Message receiveNoWait() {
    return Unchecked.ask(consumer::receiveNoWait);
  }

  @Override
  public void close() {
    Unchecked.run(consumer::close);
  }

  @Override
  public <T> @Nullable T receiveBody(Class<T> wanted) {
    return body(Gate.FOREVER, wanted);
  }

  @Override
  public <T> @Nullable T receiveBody(Class<T> wanted, long timeoutMillis) {
    return body(Unchecked.get(() -> LightmqConsumer.waitMillis(timeoutMillis)), wanted);
  }

  @Override
  public <T> @Nullable T receiveBodyNoWait(Class<T> wanted) {
    return body(Gate.NO_WAIT, wanted);
  }

  private record Body(@Nullable Object value) {}

  private <T> @Nullable T body(long waitMillis, Class<T> wanted) {
    Body body =
        Unchecked.ask(
            () -> consumer.receive(waitMillis, message -> new Body(bodyOf(message, wanted))));
    return body == null ? null : wanted.cast(body.value());
  }

  private static @Nullable Object bodyOf(Message message, Class<?> wanted) throws JMSException {
    if (message instanceof StreamMessage) {
      throw JmsFaults.format("the body of a StreamMessage can only be read value by value");
    }
    Object value = message.getBody(wanted);
    if (value == null && io.lightmq.client.message.Messages.hasNoBody(message)) {
      throw JmsFaults.format("a Message has no body; use receive");
    }
    return value;
  }
}
