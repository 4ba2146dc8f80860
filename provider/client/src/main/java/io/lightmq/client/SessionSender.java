package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import io.lightmq.client.link.BrokerLink;
import io.lightmq.client.link.LinkException;
import io.lightmq.client.message.Envelope;
import io.lightmq.client.message.LightmqMessage;
import io.lightmq.client.message.Messages;
import io.lightmq.client.message.SendRules;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MessageId;
import io.lightmq.wire.entry.MessageTooLargeException;
import io.lightmq.wire.entry.MessageWriter;
import jakarta.jms.CompletionListener;
import jakarta.jms.DeliveryMode;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a session: encodes messages once and hands them to the link, or keeps them
 * for the commit. The lock is held for encoding and bookkeeping, never while the broker is waited
 * for.
 */
final class SessionSender {
  /** Destinations of producers without one that stay resolved; the one unused longest leaves. */
  private static final int MAX_TARGETS = 100;

  /** How a message is sent. */
  record Options(
      int deliveryMode,
      int priority,
      long timeToLiveMillis,
      long deliveryDelayMillis,
      boolean withId,
      boolean withTimestamp) {}

  private final ClientSettings settings;
  private final BrokerLink link;
  private final int sessionId;
  private final CurrentUnit units;
  private final Messages messages;
  private final JmsDestinations destinations;
  private final AtomicLong messageNumbers;
  private final Completions completions;
  private final Refusals refusals;
  private final MessageWriter writer;
  private final int sizeLimit;
  private final Map<DestinationName, BrokerLink.Target> targets =
      new LinkedHashMap<>(16, 0.75f, true);

  private final Supplier<String> transaction;

  SessionSender(
      ClientSettings settings,
      BrokerLink link,
      int sessionId,
      CurrentUnit units,
      Messages messages,
      JmsDestinations destinations,
      AtomicLong messageNumbers,
      Completions completions,
      Refusals refusals,
      Supplier<String> transaction) {
    this.settings = settings;
    this.link = link;
    this.sessionId = sessionId;
    this.units = units;
    this.messages = messages;
    this.destinations = destinations;
    this.messageNumbers = messageNumbers;
    this.completions = completions;
    this.refusals = refusals;
    this.transaction = transaction;
    this.sizeLimit = Math.min(settings.messageSizeLimit(), link.limits().maxMessageBytes());
    this.writer = new MessageWriter(sizeLimit);
  }

  /** Resolves a destination for a producer. */
  BrokerLink.Target open(Destination destination) throws JMSException {
    DestinationName name = destinations.nameOf(destination);
    try {
      return Awaiting.answer(
          link.openTarget(sessionId, name), "opening a producer for " + name.name());
    } catch (JMSException e) {
      throw noted(e);
    }
  }

  private JMSException noted(JMSException failure) {
    refusals.note(failure);
    return failure;
  }

  void close(BrokerLink.Target target) {
    link.closeTarget(target);
  }

  /** A producer cannot wait for the listener that closes it. */
  void refuseInCompletion(Object producer) throws JMSException {
    if (completions.isCurrentFor(producer)) {
      throw JmsFaults.illegalState(
          "a producer cannot be closed by a completion listener of one of its sends");
    }
  }

  /** Waits until a producer's asynchronous sends are complete and their listeners have returned. */
  void awaitSends(Object producer) {
    completions.await(producer);
  }

  private BrokerLink.Target targetFor(Destination destination) throws JMSException {
    DestinationName name = destinations.nameOf(destination);
    synchronized (targets) {
      BrokerLink.Target known = targets.get(name);
      if (known != null) {
        return known;
      }
    }
    BrokerLink.Target opened = open(destination);
    synchronized (targets) {
      targets.put(name, opened);
      if (targets.size() > MAX_TARGETS) {
        DestinationName eldest = targets.keySet().iterator().next();
        BrokerLink.Target left = targets.remove(eldest);
        if (left != null) {
          link.closeTarget(left);
        }
      }
    }
    return opened;
  }

  /**
   * Sends a message.
   *
   * @param producer who waits for its asynchronous sends, null if nobody does
   * @param fixed the producer's own target, null to use the destination's
   * @param listener null to wait for the receipt
   */
  void send(
      @Nullable Object producer,
      BrokerLink.@Nullable Target fixed,
      Destination destination,
      @Nullable Message message,
      Options options,
      @Nullable CompletionListener listener)
      throws JMSException {
    if (message == null) {
      throw JmsFaults.format("the message is null");
    }
    send(producer, fixed, destination, messages.ours(message), message, options, listener);
  }

  /** Sends a message for the one that was given, which gets the headers. */
  void send(
      @Nullable Object producer,
      BrokerLink.@Nullable Target fixed,
      Destination destination,
      LightmqMessage ours,
      Message message,
      Options options,
      @Nullable CompletionListener listener)
      throws JMSException {
    try {
      sendNow(producer, fixed, destination, ours, message, options, listener);
    } catch (JMSException e) {
      throw noted(e);
    }
  }

  private void sendNow(
      @Nullable Object producer,
      BrokerLink.@Nullable Target fixed,
      Destination destination,
      LightmqMessage ours,
      Message message,
      Options options,
      @Nullable CompletionListener listener)
      throws JMSException {
    check(options);
    BrokerLink.Target target = fixed != null ? fixed : targetFor(destination);
    boolean persistent = options.deliveryMode() == DeliveryMode.PERSISTENT;
    Envelope envelope =
        new Envelope(
            destination,
            destinations.nameOf(destination),
            persistent,
            options.priority(),
            options.timeToLiveMillis(),
            options.deliveryDelayMillis(),
            options.withId() ? new MessageId(link.id(), messageNumbers.incrementAndGet()) : null,
            System.currentTimeMillis(),
            options.withTimestamp(),
            units.now() != null && settings.jmsx().tellsProducerTransaction()
                ? transaction.get()
                : null);
    byte[] bytes = encode(ours, envelope);
    envelope.applyTo(message);
    if (listener == null) {
      CompletableFuture<Void> receipt = goesOut(fixed, target, persistent, bytes, envelope);
      if (receipt instanceof BrokerLink.Sending sending) {
        Completions.receipt(sending, settings.link().timeouts().requestMillis());
      }
      return;
    }
    completions.takePlace(bytes.length);
    CompletableFuture<Void> receipt;
    try {
      receipt = goesOut(fixed, target, persistent, bytes, envelope);
    } catch (JMSException | RuntimeException | Error e) {
      completions.giveBackPlace(bytes.length);
      throw e;
    }
    completions.add(producer, receipt, message, listener, bytes.length);
  }

  /** Sends an encoded message, or keeps it for the commit: then it has its receipt at once. */
  private CompletableFuture<Void> goesOut(
      BrokerLink.@Nullable Target fixed,
      BrokerLink.Target target,
      boolean persistent,
      byte[] bytes,
      Envelope envelope)
      throws JMSException {
    UnitOfWork unit = units.now();
    if (unit != null) {
      unit.add(new BrokerLink.Staged(target, persistent, bytes));
      return CompletableFuture.allOf();
    }
    BrokerLink.Sending sending = publish(target, persistent, bytes);
    if (fixed == null) {
      forgetIfGone(sending, envelope.name(), target);
    }
    return sending;
  }

  /** A destination that was deleted is resolved anew by the next send, which may make it again. */
  private void forgetIfGone(
      BrokerLink.Sending sending, DestinationName name, BrokerLink.Target target) {
    var unused =
        sending.whenComplete(
            (done, failure) -> {
              if (failure instanceof LinkException link
                  && link.code() == FaultCode.DESTINATION_GONE) {
                synchronized (targets) {
                  targets.remove(name, target);
                }
              }
            });
  }

  private static void check(Options options) throws JMSException {
    SendRules.checkMode(options.deliveryMode());
    SendRules.checkPriority(options.priority());
    SendRules.checkTimeToLive(options.timeToLiveMillis());
  }

  private byte[] encode(LightmqMessage message, Envelope envelope) throws JMSException {
    synchronized (writer) {
      try {
        return message.encode(writer, envelope, destinations);
      } catch (MessageTooLargeException e) {
        throw JmsFaults.of(
            FaultCode.TOO_LARGE,
            e.getMessage()
                + (sizeLimit < settings.messageSizeLimit()
                    ? " (the broker's)"
                    : " (option messageSizeLimit)"),
            e);
      }
    }
  }

  private BrokerLink.Sending publish(BrokerLink.Target target, boolean persistent, byte[] bytes)
      throws JMSException {
    try {
      return link.publish(target, persistent, bytes);
    } catch (LinkException e) {
      throw JmsFaults.of(e.code(), String.valueOf(e.getMessage()), e);
    }
  }
}
