package io.lightmq.core.sessions;

import io.lightmq.core.delivery.Consumer;
import io.lightmq.core.delivery.Dispatcher;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.record.ShardRecord.Reason;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Counters;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.spi.Mark;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.SequenceRange;
import java.util.ArrayList;
import java.util.List;

/** Decides what consumers ask: to open and close, to pull, to acknowledge and to give back. */
@OwnedBy("shard")
public final class Consuming {
  private final ShardState state;
  private final Recorder recorder;
  private final Sessions sessions;
  private final Settlements settlements;
  private final Dispatcher dispatcher;
  private final Subscribing subscribing;
  private final Counters counters;
  private final Attempts attempts;
  private final int mostConsumed;

  /**
   * Decides what is asked from now on.
   *
   * @param maxBatchBytes what the record of one pull has to fit into
   */
  public Consuming(
      Recorder recorder,
      Sessions sessions,
      Settlements settlements,
      Dispatcher dispatcher,
      Subscribing subscribing,
      Counters counters,
      Attempts attempts,
      int maxBatchBytes) {
    this.state = recorder.state();
    this.recorder = recorder;
    this.sessions = sessions;
    this.settlements = settlements;
    this.dispatcher = dispatcher;
    this.subscribing = subscribing;
    this.counters = counters;
    this.attempts = attempts;
    this.mostConsumed = RecordBytes.messages(maxBatchBytes);
  }

  /** The bytes of journal that an acknowledgement records at most. */
  public long recordBytes(Command.Acknowledge command) {
    state.guard().check();
    PeerSession session = sessions.find(command.peer());
    return session == null ? 0 : settlements.recordBytes(session, command.acked());
  }

  /** The bytes of journal that failed attempts record at most. */
  public long recordBytes(Command.Return command) {
    state.guard().check();
    PeerSession session = sessions.find(command.peer());
    return session == null ? 0 : Attempts.recordBytes(session, command.returned());
  }

  // ---- resolve, open, close ----

  public void attachProducer(Command.AttachProducer command) {
    state.guard().check();
    PeerSession session = sessions.attached(command.peer());
    Destination destination =
        subscribing.resolveToSend(session, command.destination(), command.mayCreate());
    recorder.mayBeSentTo(destination);
    replyWithId(command.peer(), command.correlation(), producer(destination));
  }

  private static Peer.Reply producer(Destination destination) {
    return new Peer.Reply.ProducerAttached(destination.id());
  }

  private void replyWithId(Peer peer, int correlation, Peer.Reply reply) {
    recorder.anywhereOnceIdsAreDurable(() -> peer.reply(correlation, reply));
  }

  public void attachConsumer(Command.AttachConsumer command) {
    state.guard().check();
    PeerSession session = sessions.attached(command.peer());
    if (command.subscribe() == Command.Subscribe.BROWSE) {
      Destination destination = subscribing.browse(session, command);
      replyWithId(
          command.peer(), command.correlation(), new Peer.Reply.ConsumerAttached(destination.id()));
      return;
    }
    Consumer consumer = subscribing.open(session, command);
    Peer.Reply reply = new Peer.Reply.ConsumerAttached(consumer.subscription().destination().id());
    if (consumer.subscription().kind().isDurable()
        && command.subscribe() != Command.Subscribe.QUEUE) {
      Peer peer = command.peer();
      recorder.anywhereOnceDurable(() -> peer.reply(command.correlation(), reply));
    } else {
      replyWithId(command.peer(), command.correlation(), reply);
    }
  }

  public void detachConsumer(Command.DetachConsumer command) {
    state.guard().check();
    PeerSession session = sessions.attached(command.peer());
    Consumer consumer = session.recipient().consumer(command.consumerId());
    if (consumer != null) {
      subscribing.close(session, List.of(consumer), false);
    }
    recorder.changing();
    dispatcher.browsers().close(session.recipient(), command.consumerId());
    subscribing.settle(session);
    ok(command.peer(), command.correlation());
  }

  public void closeSession(Command.CloseSession command) {
    state.guard().check();
    PeerSession session = sessions.attached(command.peer());
    List<Consumer> closing = new ArrayList<>();
    for (Consumer consumer : session.recipient().consumers()) {
      if (consumer.sessionId() == command.sessionId()) {
        closing.add(consumer);
      }
    }
    subscribing.close(session, closing, false);
    dispatcher.browsers().closeSession(session.recipient(), command.sessionId());
    session.tellers().remove(command.sessionId());
    subscribing.settle(session);
    ok(command.peer(), command.correlation());
  }

  public void unsubscribe(Command.Unsubscribe command) {
    state.guard().check();
    subscribing.durable().unsubscribe(sessions.attached(command.peer()), command.subscription());
    Peer peer = command.peer();
    recorder.anywhereOnceDurable(() -> peer.reply(command.correlation(), new Peer.Reply.Ok()));
  }

  public void createTemporary(Command.CreateTemporary command) {
    state.guard().check();
    PeerSession session = sessions.attached(command.peer());
    Destination created = subscribing.createTemporary(session, command.kind(), command.number());
    Peer peer = command.peer();
    Peer.Reply reply = new Peer.Reply.TemporaryCreated(created.name());
    recorder.atTurnEnd(() -> peer.reply(command.correlation(), reply));
  }

  public void deleteTemporary(Command.DeleteTemporary command) {
    state.guard().check();
    PeerSession session = sessions.attached(command.peer());
    Destination temporary = session.temporaries().get(command.destination());
    if (temporary == null) {
      throw new Refusal(
          FaultCode.NOT_OWNER,
          command.destination().name() + " is no temporary destination of this connection");
    }
    long consumers = temporary.subscriptions().stream().mapToInt(each -> each.consumers()).sum();
    if (consumers > 0) {
      throw new Refusal(
          FaultCode.IN_USE, command.destination().name() + " has " + consumers + " consumers");
    }
    subscribing.delete(temporary);
    subscribing.forget(session, temporary);
    ok(command.peer(), command.correlation());
  }

  private void ok(Peer peer, int correlation) {
    if (correlation != 0) {
      recorder.atTurnEnd(() -> peer.reply(correlation, new Peer.Reply.Ok()));
    }
  }

  // ---- pull, acknowledge, give back ----

  public void pull(Command.Pull command) {
    state.guard().check();
    recorder.changing();
    PeerSession session = sessions.find(command.peer());
    Consumer consumer = session == null ? null : session.recipient().consumer(command.consumerId());
    if (session != null
        && dispatcher.browsers().isOpen(session.recipient(), command.consumerId())) {
      dispatcher
          .browsers()
          .pull(
              session.recipient(),
              command.consumerId(),
              command.pullId(),
              command.messages(),
              command.bytes());
    } else if (consumer == null) {
      command
          .peer()
          .pullDone(command.consumerId(), command.pullId(), FaultCode.DESTINATION_GONE, 0);
    } else {
      int messages =
          consumer.noAcknowledge()
              ? Math.min(command.messages(), mostConsumed)
              : command.messages();
      dispatcher.pull(consumer, command.pullId(), messages, command.bytes(), command.parkMillis());
    }
  }

  public void writable(Command.Writable command) {
    state.guard().check();
    PeerSession session = sessions.find(command.peer());
    if (session != null) {
      recorder.changing();
      dispatcher.writable(session.recipient());
    }
  }

  /** Takes acknowledgements outside of a transaction. */
  public void acknowledge(Command.Acknowledge command) {
    state.guard().check();
    PeerSession session = sessions.attached(command.peer());
    long refused = 0;
    boolean gone = false;
    Mark mark = Mark.WRITTEN;
    boolean recorded = false;
    for (Command.Acked acked : command.acked()) {
      Settlements.Accepted accepted = settlements.look(session, acked);
      if (accepted == null) {
        gone |= state.destinations().find(acked.destinationId()) == null;
        for (SequenceRange range : acked.ranges()) {
          refused += range.count();
        }
        continue;
      }
      refused += accepted.refused();
      Destination destination = accepted.subscription().destination();
      if (!accepted.recorded().isEmpty()) {
        accepted.records(Reason.ACKNOWLEDGED).forEach(recorder::record);
        Mark wanted = destination.settings().tier().mark();
        mark = wanted.compareTo(mark) > 0 ? wanted : mark;
        recorded = true;
      }
      recorder.changing();
      settlements.settle(accepted);
      counters.acknowledged(destination.id(), accepted.subscription().id(), accepted.count());
    }
    if (command.correlation() == 0) {
      return;
    }
    Peer peer = command.peer();
    Peer.Reply reply = refused == 0 ? new Peer.Reply.Ok() : notInFlight(refused, gone);
    Runnable effect = () -> peer.reply(command.correlation(), reply);
    if (recorded) {
      recorder.onJournal(mark, effect);
    } else {
      recorder.atTurnEnd(effect);
    }
  }

  private static Peer.Reply notInFlight(long refused, boolean gone) {
    return gone
        ? new Peer.Reply.Failed(
            FaultCode.DESTINATION_GONE, refused + " messages went with their destination")
        : new Peer.Reply.Failed(
            FaultCode.NOT_IN_FLIGHT,
            refused + " messages are not in flight to the consumer any more");
  }

  /** Notes what a session has handed to its application. */
  public void begun(Command.Begun command) {
    state.guard().check();
    PeerSession session = sessions.find(command.peer());
    if (session != null) {
      recorder.changing();
      session.begun(command);
    }
  }

  public void giveBack(Command.Return command) {
    state.guard().check();
    PeerSession session = sessions.attached(command.peer());
    for (Command.Acked returned : command.returned()) {
      Consumer consumer = Settlements.consumer(session, returned);
      if (consumer != null) {
        recorder.changing();
        if (command.attempted()) {
          attempts.failed(session, consumer, returned.ranges(), command.cause());
        } else {
          dispatcher.giveBack(consumer, returned.ranges(), false);
        }
      }
    }
    ok(command.peer(), command.correlation());
  }
}
