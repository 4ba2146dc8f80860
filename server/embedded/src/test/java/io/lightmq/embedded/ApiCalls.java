package io.lightmq.embedded;

import jakarta.jms.CompletionListener;
import jakarta.jms.DeliveryMode;
import jakarta.jms.Destination;
import jakarta.jms.ExceptionListener;
import jakarta.jms.Message;
import jakarta.jms.MessageListener;
import jakarta.jms.Queue;
import jakarta.jms.ServerSessionPool;
import jakarta.jms.Session;
import jakarta.jms.Topic;
import java.io.Serializable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Calls every method of an interface of jakarta.jms with arguments that make sense. */
final class ApiCalls {
  private final Map<Class<?>, Object> arguments = new LinkedHashMap<>();

  ApiCalls(Queue queue, Topic topic, Message message, ServerSessionPool pool) {
    arguments.put(Queue.class, queue);
    arguments.put(Topic.class, topic);
    arguments.put(Destination.class, queue);
    arguments.put(Message.class, message);
    arguments.put(ServerSessionPool.class, pool);
    arguments.put(String.class, "name");
    arguments.put(Class.class, String.class);
    arguments.put(Serializable.class, "object");
    arguments.put(Object.class, "object");
    arguments.put(Map.class, Map.of("key", "value"));
    arguments.put(byte[].class, new byte[4]);
    arguments.put(boolean.class, false);
    arguments.put(byte.class, (byte) 1);
    arguments.put(short.class, (short) 1);
    arguments.put(char.class, 'c');
    arguments.put(int.class, 1);
    arguments.put(long.class, 1L);
    arguments.put(float.class, 1f);
    arguments.put(double.class, 1d);
    arguments.put(MessageListener.class, (MessageListener) received -> {});
    arguments.put(ExceptionListener.class, (ExceptionListener) exception -> {});
    arguments.put(
        CompletionListener.class,
        new CompletionListener() {
          @Override
          public void onCompletion(Message sent) {}

          @Override
          public void onException(Message sent, Exception exception) {}
        });
  }

  /** Other arguments for some types. */
  ApiCalls with(Class<?> type, Object argument) {
    arguments.put(type, argument);
    return this;
  }

  /** What a call gave: a value, or what it threw. */
  record Outcome(Method method, Object value, Throwable thrown) {
    @Override
    public String toString() {
      return method.getDeclaringClass().getSimpleName()
          + "."
          + method.getName()
          + Arrays.toString(
              Arrays.stream(method.getParameterTypes()).map(Class::getSimpleName).toArray())
          + (thrown == null ? " gave " + value : " threw " + thrown);
    }
  }

  /** All instance methods of an interface, its parents' included, in a fixed order. */
  static List<Method> methods(Class<?> api) {
    List<Method> methods = new ArrayList<>();
    for (Method method : api.getMethods()) {
      if (!Modifier.isStatic(method.getModifiers()) && method.getDeclaringClass() != Object.class) {
        methods.add(method);
      }
    }
    methods.sort(Comparator.comparing(Method::toGenericString));
    return methods;
  }

  /** Calls a method. */
  Outcome call(Object target, Method method) throws IllegalAccessException {
    Object[] values = new Object[method.getParameterCount()];
    for (int i = 0; i < values.length; i++) {
      Class<?> type = method.getParameterTypes()[i];
      if (!arguments.containsKey(type)) {
        throw new AssertionError("no argument for " + type + " of " + method);
      }
      values[i] = arguments.get(type);
    }
    switch (method.getName()) {
      case "setDeliveryMode", "setJMSDeliveryMode" -> values[0] = DeliveryMode.PERSISTENT;
      case "setPriority", "setJMSPriority" -> values[0] = 4;
      default -> {}
    }
    if (method.getName().matches("create\\w*(Consumer|Browser|Receiver|Subscriber)")) {
      for (int i = 1; i < values.length; i++) {
        if (isSelector(method, i)) {
          values[i] = null;
        }
      }
    }
    if (method.getName().matches("create(Queue|Topic)?Session") && values.length == 2) {
      values[1] = Session.AUTO_ACKNOWLEDGE;
    }
    if (method.getName().matches("send|publish") && values.length >= 4) {
      for (int i = 0; i < values.length; i++) {
        values[i] = values[i].equals(1) ? (Object) DeliveryMode.NON_PERSISTENT : values[i];
      }
    }
    try {
      return new Outcome(method, method.invoke(target, values), null);
    } catch (InvocationTargetException e) {
      return new Outcome(method, null, e.getCause());
    }
  }

  /** A text after the destination is a selector, unless it is the name of a subscription. */
  private static boolean isSelector(Method method, int index) {
    boolean named = method.getName().contains("Shared") || method.getName().contains("Durable");
    return method.getParameterTypes()[index] == String.class && index == (named ? 2 : 1);
  }
}
