package io.lightmq.core.sessions;

import io.lightmq.core.delivery.Consumer;
import io.lightmq.core.delivery.Dispatcher;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.NamedHeap;
import io.lightmq.core.destination.Subscription;
import io.lightmq.core.door.Command;
import io.lightmq.core.door.Peer;
import io.lightmq.core.record.ShardRecord.LinkAttached;
import io.lightmq.core.record.ShardRecord.LinkClosed;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.Recorder;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.ShardState;
import io.lightmq.core.state.TurnPart;
import io.lightmq.core.state.TurnTime;
import io.lightmq.core.transaction.Link;
import io.lightmq.core.transaction.Links;
import io.lightmq.core.transaction.Outcome;
import io.lightmq.spi.Principal;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The connections that are attached, by connection, link and client id. */
@OwnedBy("shard")
public final class Sessions implements TurnPart {
  private static final Logger log = LoggerFactory.getLogger(Sessions.class);
  private static final int IDLE_CLOSED_AT_ONCE = 64;

  private final ShardState state;
  private final Recorder recorder;
  private final Dispatcher dispatcher;
  private final Subscribing subscribing;
  private final Attempts attempts;
  private final TurnTime time;
  private final java.util.function.Consumer<Command> release;
  private final NamedBudget budget;
  private Leaving leaving = (session, counts) -> {};
  private final Map<Long, PeerSession> byConnection = new HashMap<>();
  private final Map<UUID, PeerSession> byLink = new HashMap<>();
  private final Map<String, PeerSession> byClientId = new HashMap<>();

  public Sessions(
      Recorder recorder,
      Dispatcher dispatcher,
      Subscribing subscribing,
      Attempts attempts,
      TurnTime time,
      java.util.function.Consumer<Command> release,
      NamedBudget budget) {
    this.state = recorder.state();
    this.recorder = recorder;
    this.dispatcher = dispatcher;
    this.subscribing = subscribing;
    this.attempts = attempts;
    this.time = time;
    this.release = release;
    this.budget = budget;
  }

  /** Told of sessions that end. */
  public interface Leaving {
    /**
     * A session ends, and what it has in flight is not free yet.
     *
     * @param counts whether an attempt has failed with what its applications had
     */
    void left(PeerSession session, boolean counts);
  }

  /** Who is told of sessions that end. */
  public void leaving(Leaving taker) {
    state.guard().check();
    leaving = taker;
  }

  /** The session of a peer, or null if it has not begun or has ended. */
  public @Nullable PeerSession find(Peer peer) {
    state.guard().check();
    return byConnection.get(peer.connectionId());
  }

  /** The client id of a connection, or null if it has none or has ended. */
  public @Nullable String clientId(long connectionId) {
    state.guard().check();
    PeerSession session = byConnection.get(connectionId);
    return session == null ? null : session.clientId();
  }

  /** The session of a peer that must be attached. */
  public PeerSession attached(Peer peer) {
    PeerSession session = find(peer);
    if (session == null || session.link() == null || session.fenced()) {
      throw new Refusal(
          FaultCode.PROTOCOL_ERROR,
          "connection " + peer.connectionId() + " is not attached to a link");
    }
    return session;
  }

  /** Whether a connection is attached to a link. */
  public boolean isConnected(UUID link) {
    return byLink.containsKey(link);
  }

  /** All sessions. */
  public Collection<PeerSession> all() {
    return Collections.unmodifiableCollection(byConnection.values());
  }

  /** Deletes what others may use: for their connections it counts no more. */
  public void delete(Destination destination) {
    state.guard().check();
    byConnection.values().forEach(session -> subscribing.forget(session, destination));
    Set<PeerSession> users = new LinkedHashSet<>();
    for (Subscription subscription : destination.subscriptions()) {
      for (Consumer consumer : dispatcher.consumers(subscription)) {
        PeerSession session = byConnection.get(consumer.recipient().outlet().connectionId());
        if (session != null) {
          subscribing.uncount(session, subscription);
          users.add(session);
        }
      }
    }
    subscribing.delete(destination);
    users.forEach(subscribing::settle);
  }

  /**
   * Closes links that nobody uses, and deletes temporary destinations whose connection has not come
   * back in time; some of them.
   */
  @Override
  public void tick() {
    state.guard().check();
    closeIdleLinks(IDLE_CLOSED_AT_ONCE);
    subscribing.deleteOverdue();
  }

  // ---- attach ----

  /** Binds a connection to its link; an older connection of the link ends. */
  public void attach(Command.Attach command) {
    state.guard().check();
    Peer peer = command.peer();
    PeerSession present = find(peer);
    if (present != null && present.link() != null) {
      throw new Refusal(FaultCode.PROTOCOL_ERROR, "this connection is attached already");
    }
    Link known = state.links().find(command.linkId());
    if (known == null) {
      checkMayBeMade(command);
    } else {
      Ownership.check(known.owner(), peer, "link " + known.id());
      checkJumps(command, known);
    }
    budget.takeToConnect(
        known != null || peer.manages(),
        "a connection",
        NamedBudget.CONNECTION
            + NamedHeap.text(command.clientId())
            + (known == null ? Links.LINK_BYTES : 0));
    PeerSession older = byLink.get(command.linkId());
    if (older != null) {
      expel(older, FaultCode.PROTOCOL_ERROR, "a newer connection of this link has attached");
    }
    if (command.clientId() != null) {
      checkFree(command.clientId(), peer);
    }
    String owner = known == null ? peer.userName() : Ownership.next(known.owner(), peer);
    if (known != null && !Objects.equals(owner, known.owner())) {
      log.info("Link {} had no owner and belongs to user {} from now on", known.id(), owner);
    }
    recorder.record(
        new LinkAttached(
            command.linkId(), Math.max(1, command.answersFrom()), owner, command.linkEpoch()));
    Link link = state.links().find(command.linkId());
    if (link == null) {
      throw new IllegalStateException("link " + command.linkId() + " was not created");
    }
    link.enterEpoch(command.linkEpoch());
    link.used(time.millis());
    PeerSession session = new PeerSession(peer, dispatcher.connect(new PeerOutlet(peer)));
    session.attached(link, command.linkEpoch());
    attempts.cameBack(command.linkId());
    byConnection.put(peer.connectionId(), session);
    byLink.put(command.linkId(), session);
    if (command.clientId() != null) {
      claim(session, command.clientId());
    }
    subscribing.settle(session);
    List<Peer.Outcome> outcomes = new ArrayList<>();
    for (Outcome outcome : link.outcomes()) {
      outcomes.add(new Peer.Outcome(outcome.number(), outcome.code(), outcome.text()));
    }
    Peer.Reply.Attached reply = new Peer.Reply.Attached(link.last(), outcomes, link.since());
    // What the link has taken counts as confirmed by this answer, so all of it must be durable.
    recorder.anywhereOnceDurable(() -> peer.reply(command.correlation(), reply));
  }

  private void checkMayBeMade(Command.Attach command) {
    String user = command.peer().userName();
    boolean manages = command.peer().manages();
    if (state.links().obstacle(user, manages) != null) {
      closeIdleLinks(IDLE_CLOSED_AT_ONCE);
    }
    String obstacle = state.links().obstacle(user, manages);
    if (obstacle != null) {
      throw new Refusal(FaultCode.RETRY_LATER, obstacle);
    }
    if (command.linkEpoch() > 1 && !command.learnsSince()) {
      // It would send again what may be stored; this it understands as the end of its connection.
      throw new Refusal(
          FaultCode.VERSION_MISMATCH,
          "the broker knows nothing of link "
              + command.linkId()
              + " any more, so whether what it sent before is stored cannot be said to a client of"
              + " this age; make a new connection, or use a newer client");
    }
  }

  private static void checkJumps(Command.Attach command, Link known) {
    if (command.linkEpoch() <= known.epoch()) {
      throw new Refusal(
          FaultCode.PROTOCOL_ERROR,
          "link epoch "
              + command.linkEpoch()
              + " is not above "
              + known.epoch()
              + ", that of an earlier connection");
    }
    if (known.isBeyond(command.linkEpoch())) {
      throw new Refusal(
          FaultCode.PROTOCOL_ERROR,
          "link epoch "
              + command.linkEpoch()
              + " is more than "
              + Link.MAX_EPOCH_JUMP
              + " above that of the attach before");
    }
    if (known.isAhead(command.answersFrom())) {
      throw new Refusal(
          FaultCode.PROTOCOL_ERROR,
          "answers are wanted from "
              + command.answersFrom()
              + " on, and "
              + known.last()
              + " is the last number that was taken; "
              + Link.MAX_NUMBER_JUMP
              + " above it are possible");
    }
  }

  /** Sets a client id after the attach. */
  public void setClientId(Command.SetClientId command) {
    state.guard().check();
    PeerSession session = attached(command.peer());
    if (session.clientId() != null) {
      throw new Refusal(
          FaultCode.CLIENT_ID_IN_USE,
          "this connection has the client id \"" + Printable.of(session.clientId()) + "\" already");
    }
    checkFree(command.clientId(), command.peer());
    budget.takeToConnect(
        command.peer().manages(), "a client id", NamedHeap.text(command.clientId()));
    claim(session, command.clientId());
    subscribing.settle(session);
    recorder.atTurnEnd(() -> command.peer().reply(command.correlation(), new Peer.Reply.Ok()));
  }

  private void checkFree(String clientId, Peer peer) {
    ClientText.name(FaultCode.BAD_REQUEST, "a client id", clientId);
    if (!mayBeClientId(clientId, state::hasDurableOf)) {
      throw new Refusal(
          FaultCode.BAD_REQUEST,
          "a client id has no control characters, this one is \"" + Printable.of(clientId) + "\"");
    }
    Ownership.check(
        state.clientIdOwners().owner(clientId),
        peer,
        "client id \"" + Printable.of(clientId) + "\"");
    PeerSession user = byClientId.get(clientId);
    if (user != null) {
      throw new Refusal(
          FaultCode.CLIENT_ID_IN_USE,
          "client id \"" + Printable.of(clientId) + "\" is in use by " + holder(user.peer(), peer));
    }
  }

  /** A client id is shown to people; who has subscriptions of an older broker may come back. */
  public static boolean mayBeClientId(String clientId, Predicate<String> hasSubscriptions) {
    return !Subscribing.hasControl(clientId) || hasSubscriptions.test(clientId);
  }

  /** Which connection has what another one asks for; nothing of it is told to other users. */
  private static String holder(Peer holder, Peer asking) {
    boolean same = holder.userName().equals(asking.userName());
    return same && !holder.userName().equals(Principal.ANONYMOUS)
        ? "connection " + holder.connectionId() + " from " + holder.address()
        : "another connection";
  }

  private void claim(PeerSession session, String clientId) {
    recorder.changing();
    session.clientId(clientId);
    byClientId.put(clientId, session);
    Subscription ownerless = state.clientIdOwners().ownerless(clientId);
    if (ownerless != null) {
      subscribing
          .durable()
          .takeOver(session, ownerless); // one is enough: with it the client id is taken
    }
  }

  // ---- end ----

  /** Disconnects a peer and ends its session as after a lost link. */
  public void expel(PeerSession session, FaultCode code, String text) {
    state.guard().check();
    end(session, false);
    session.peer().disconnect(code, text);
  }

  /**
   * Disconnects a peer because the broker stops in order. What is in flight may have been seen, but
   * that it comes back is no failure of the application's: no attempt is counted.
   */
  public void dismiss(PeerSession session, FaultCode code, String text) {
    state.guard().check();
    end(session, false, false);
    session.peer().disconnect(code, text);
  }

  /**
   * Ends a session: what it had in flight is free again; its temporary destinations are gone, or
   * wait for its link if the connection is lost.
   *
   * @param clean whether the client closed in order, having returned what its application had seen
   */
  public void end(PeerSession session, boolean clean) {
    state.guard().check();
    end(session, clean, !clean);
  }

  private void end(PeerSession session, boolean clean, boolean counts) {
    if (byConnection.get(session.peer().connectionId()) != session) {
      return;
    }
    recorder.changing();
    byConnection.remove(session.peer().connectionId());
    if (counts) {
      attempts.lost(session);
    }
    leaving.left(session, counts);
    subscribing.closeAll(session, !clean);
    subscribing.leaveTemporaries(session, clean);
    budget.ended(session);
    session.waitingCommits().values().forEach(each -> release.accept(each.commit()));
    session.waitingCommits().clear();
    session.heldPublishes().forEach(held -> release.accept(held.publish()));
    session.heldPublishes().clear();
    if (session.clientId() != null) {
      byClientId.remove(session.clientId(), session);
    }
    Link link = session.link();
    if (link != null && byLink.remove(link.id(), session)) {
      link.used(time.millis());
      if (clean) {
        recorder.record(new LinkClosed(link.id()));
      }
    }
  }

  /** Closes links that nobody uses; at most so many. */
  void closeIdleLinks(int most) {
    for (int i = 0; i < most; i++) {
      UUID idle = state.links().idle(time.millis());
      if (idle == null) {
        return;
      }
      if (byLink.containsKey(idle)) {
        Link link = state.links().find(idle);
        if (link != null) {
          link.used(time.millis());
        }
      } else {
        recorder.record(new LinkClosed(idle));
      }
    }
  }
}
