package io.lightmq.client;

import io.lightmq.client.link.BrokerLink;
import jakarta.jms.JMSException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives messages back to the broker. */
final class Returning {
  private static final Logger LOG = LoggerFactory.getLogger(Returning.class);

  private final BrokerLink link;

  Returning(BrokerLink link) {
    this.link = link;
  }

  /** Messages that the application has not seen; does not wait. */
  void unattempted(List<Arrived> messages) {
    if (!messages.isEmpty()) {
      send(messages, false);
    }
  }

  /** A message that the application has failed to process; does not wait. */
  void attempted(Arrived message) {
    send(List.of(message), true);
  }

  private void send(List<Arrived> messages, boolean attempted) {
    var unused =
        link.giveBack(Arrived.places(messages), attempted)
            .whenComplete(
                (done, failure) -> {
                  if (failure != null) {
                    LOG.debug("returning {} messages failed", messages.size(), failure);
                  }
                });
  }

  /** Both kinds; waits until the broker has them. */
  void all(List<Arrived> attempted, List<Arrived> unattempted) throws JMSException {
    List<CompletableFuture<Void>> answers = new ArrayList<>();
    if (!attempted.isEmpty()) {
      answers.add(link.giveBack(Arrived.places(attempted), true));
    }
    if (!unattempted.isEmpty()) {
      answers.add(link.giveBack(Arrived.places(unattempted), false));
    }
    for (CompletableFuture<Void> answer : answers) {
      Awaiting.answer(answer, "giving messages back");
    }
  }
}
