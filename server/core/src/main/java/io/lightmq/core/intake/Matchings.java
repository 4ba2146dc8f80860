package io.lightmq.core.intake;

import io.lightmq.core.delivery.Beside;
import io.lightmq.core.destination.Destination;
import io.lightmq.core.destination.Filter;
import io.lightmq.core.door.Command;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.selector.Selector;
import io.lightmq.core.selector.Work;
import io.lightmq.core.sessions.PeerSession;
import io.lightmq.core.state.Refusal;
import io.lightmq.core.state.Runs;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.MalformedMessageException;
import io.lightmq.wire.entry.MessageScan;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the selectors of topics say of messages that are too long to be looked at in a turn. They
 * are looked at beside the shard, with the selectors that there are when that begins; what comes
 * for the message later is asked when it is decided, or beside the shard again if that is much.
 * Whoever sent the message waits meanwhile, with all that comes behind it.
 *
 * <p>Bounds: a connection has one run and one commit here at most, moves have {@link #MAX_MOVES}. A
 * message for which all selectors together would take more than {@link #MAX_STEPS} is refused.
 */
@OwnedBy("shard")
public final class Matchings {
  /** What takes more steps is looked at beside the shard; some 8 to 50 ms. */
  public static final long INLINE_STEPS = 4L << 20;

  /** All selectors of a topic may take so many steps for one message; some 2 to 12 s. */
  static final long MAX_STEPS = 1L << 30;

  /** So many moves of long messages to topics are under way at most. */
  static final int MAX_MOVES = 16;

  /** So often selectors may come that have to be asked beside the shard, for one message. */
  private static final int MAX_ROUNDS = 8;

  private final Placing placing;
  private final Beside beside;
  private final Runnable wake;
  private final MessageScan scan = new MessageScan();
  private final IdentityHashMap<Object, Matching> known = new IdentityHashMap<>();
  private int moves;

  /** A message that is moved; several that are read may wait. */
  public interface Moved {
    /** Whether it is still to be moved. */
    boolean isValid();
  }

  /** Messages for one destination; their places are those in the bit sets. */
  public record Part(Destination destination, Runs.Checked run) {}

  /**
   * None beside the shard yet.
   *
   * @param wake makes the shard look again at what waits
   */
  public Matchings(Placing placing, Beside beside, Runnable wake) {
    this.placing = placing;
    this.beside = beside;
    this.wake = wake;
  }

  /** What is known of one run, commit or move. */
  private static final class Matching {
    final Object of;
    final List<Part> parts;

    /** Of each part which messages a selector does not match. */
    final List<Map<Filter, BitSet>> failed = new ArrayList<>();

    int rounds;
    boolean busy;

    /** Nobody waits for it any more; run once the loop beside the shard has let go of the bytes. */
    @Nullable Runnable whenLetGo;

    Matching(Object of, List<Part> parts) {
      this.of = of;
      this.parts = parts;
      parts.forEach(part -> failed.add(new HashMap<>()));
    }
  }

  // ---- before something is decided ----

  /**
   * Whether a run can be decided within the turn: it is short, or what takes long is known. If not,
   * the shard is woken when it is to be asked again.
   *
   * @throws Refusal if there are too many selectors for one of its messages
   */
  boolean isReady(PeerSession session, Command.Publish command) {
    long most = mostSteps(command.destinationId(), command.count(), command.messages());
    if (needsNone(most)) {
      return true; // nearly all runs; no more is made for them
    }
    return isReady(
        command,
        most,
        () -> List.of(part(session, command.destinationId(), command.count(), command.messages())));
  }

  /** The same for a commit, or another part of a transaction. */
  boolean isReady(PeerSession session, Command commit, List<Command.StagedRun> runs) {
    long most = 0;
    for (Command.StagedRun run : runs) {
      most += mostSteps(run.destinationId(), run.count(), run.messages());
    }
    if (needsNone(most)) {
      return true;
    }
    return isReady(
        commit,
        most,
        () -> {
          List<Part> parts = new ArrayList<>();
          for (Command.StagedRun run : runs) {
            if (placing.find(run.destinationId()) == null) {
              return List.of(); // it is rolled back, whatever anybody wants of it
            }
            parts.add(part(session, run.destinationId(), run.count(), run.messages()));
          }
          return parts;
        });
  }

  /** What selectors take at most for a run, from what costs nothing to know. */
  private long mostSteps(long destinationId, int count, Command.Bytes messages) {
    Destination to = placing.find(destinationId);
    return to == null ? 0 : to.weight().steps(count, messages.buffer().remaining());
  }

  private Part part(PeerSession session, long id, int count, Command.Bytes messages) {
    Runs.Checked run = placing.check(session, count, messages.buffer());
    Destination to = placing.find(id);
    if (to == null) {
      throw new Refusal(FaultCode.DESTINATION_GONE, Placing.goneText(id));
    }
    return new Part(to, run.delayed() ? run.undelayed() : run);
  }

  /** Whether nothing at all is looked at beside the shard, nor has to be for so few steps. */
  private boolean needsNone(long mostSteps) {
    return mostSteps <= INLINE_STEPS && known.isEmpty();
  }

  /**
   * Whether a run or commit can be decided within the turn.
   *
   * @param runs what it carries, with its destinations; asked for only if it may be long
   */
  private boolean isReady(Command command, long mostSteps, Supplier<List<Part>> runs) {
    Matching matching = known.get(command);
    if (matching == null) {
      if (mostSteps <= INLINE_STEPS) {
        return true;
      }
      List<Part> parts = runs.get();
      parts.forEach(this::check);
      return begin(new Matching(command, parts));
    }
    if (matching.busy) {
      return false;
    }
    matching.parts.forEach(this::check);
    if (matching.rounds >= MAX_ROUNDS && steps(matching) > INLINE_STEPS) {
      throw new Refusal(
          FaultCode.LIMIT_REACHED,
          "selectors were opened "
              + MAX_ROUNDS
              + " times while a long message was looked at for them; send it again later");
    }
    return begin(matching);
  }

  /** The same for a message that is moved to a topic, which is never refused for its length. */
  public boolean isReady(Moved move, Part part) {
    Matching matching = known.get(move);
    if (matching == null) {
      if (steps(part) <= INLINE_STEPS) {
        return true;
      }
      known.values().removeIf(this::isLeft);
      if (moves >= MAX_MOVES) {
        return false;
      }
      ByteBuffer own = ByteBuffer.allocate(part.run().messages().remaining());
      own.put(part.run().messages().duplicate()).flip();
      moves++;
      return begin(new Matching(move, List.of(new Part(part.destination(), part.run().of(own)))));
    }
    return !matching.busy && begin(matching);
  }

  private boolean isLeft(Matching matching) {
    boolean left = !matching.busy && matching.of instanceof Moved move && !move.isValid();
    moves -= left ? 1 : 0;
    return left;
  }

  /** What is known of a part of something; of all that it lacks the turn finds out. */
  public Map<Filter, BitSet> of(Object of, int part) {
    if (known.isEmpty()) {
      return Map.of();
    }
    Matching matching = known.get(of);
    return matching == null || part >= matching.failed.size()
        ? Map.of()
        : matching.failed.get(part);
  }

  /** It is decided. */
  public void forget(Object of) {
    if (!known.isEmpty() && known.remove(of) != null && of instanceof Moved) {
      moves--;
    }
  }

  /** A command is not needed any more: gives its bytes back, when nobody looks at them. */
  public void release(Command command) {
    Matching matching = known.remove(command);
    if (matching != null && matching.busy) {
      matching.whenLetGo = () -> command.release();
    } else {
      command.release();
    }
  }

  /** Refuses a message for which there are too many selectors. */
  private void check(Part part) {
    ByteBuffer messages = part.run().messages();
    Destination to = part.destination();
    int at = messages.position();
    for (int i = 0; i < part.run().count(); i++) {
      int bytes = messages.getInt(at);
      if (to.weight().steps(1, bytes) > MAX_STEPS) {
        int selectable = selectableBytes(messages, at + 4, bytes);
        long steps = to.weight().steps(1, selectable);
        if (steps > MAX_STEPS) {
          throw new Refusal(
              FaultCode.TOO_LARGE,
              "a message has "
                  + selectable
                  + " bytes of headers and properties, and "
                  + to.filters().size()
                  + " selectors of the topic "
                  + to.name().name()
                  + " may need "
                  + steps
                  + " steps to look at it; the limit is "
                  + MAX_STEPS
                  + ": send long texts in the body, or search texts with fewer selectors");
        }
      }
      at += 4 + bytes;
    }
  }

  private int selectableBytes(ByteBuffer messages, int at, int bytes) {
    try {
      scan.open(messages, at, bytes);
      return scan.selectableBytes();
    } catch (MalformedMessageException e) {
      return 0; // no selector looks further
    }
  }

  private long steps(Part part) {
    Runs.Checked run = part.run();
    if (part.destination().weight().steps(run.count(), run.messages().remaining())
        <= INLINE_STEPS) {
      return 0;
    }
    return part.destination().weight().steps(run.count(), selectableBytes(run));
  }

  private long selectableBytes(Runs.Checked run) {
    ByteBuffer messages = run.messages();
    long sum = 0;
    int at = messages.position();
    for (int i = 0; i < run.count(); i++) {
      int bytes = messages.getInt(at);
      sum += selectableBytes(messages, at + 4, bytes);
      at += 4 + bytes;
    }
    return sum;
  }

  /** What the selectors take that are not asked yet. */
  private long steps(Matching matching) {
    long sum = 0;
    for (int i = 0; i < matching.parts.size(); i++) {
      Part part = matching.parts.get(i);
      Map<Filter, BitSet> asked = matching.failed.get(i);
      if (asked.isEmpty()) {
        sum += part.destination().weight().steps(part.run().count(), selectableBytes(part.run()));
        continue;
      }
      long bytes = -1;
      for (Filter filter : part.destination().filters()) {
        if (!asked.containsKey(filter)) {
          bytes = bytes < 0 ? selectableBytes(part.run()) : bytes;
          sum += filter.selector().steps(part.run().count(), bytes);
        }
      }
    }
    return sum;
  }

  // ---- beside the shard ----

  /** Has the selectors asked that are not, if that is much; whether it is not. */
  private boolean begin(Matching matching) {
    if (steps(matching) <= INLINE_STEPS) {
      return true;
    }
    List<Question> questions = new ArrayList<>();
    for (int i = 0; i < matching.parts.size(); i++) {
      Part part = matching.parts.get(i);
      for (Filter filter : part.destination().filters()) {
        if (!matching.failed.get(i).containsKey(filter)) {
          questions.add(new Question(i, filter, part.run(), new BitSet(part.run().count())));
        }
      }
    }
    known.put(matching.of, matching);
    matching.rounds++;
    goOn(matching, new Asking(questions));
    return false;
  }

  private void goOn(Matching matching, Asking asking) {
    matching.busy = true;
    try {
      beside.run(asking::slice, () -> sliceDone(matching, asking), () -> letGo(matching));
    } catch (RejectedExecutionException e) {
      matching.busy = false; // that loop takes nothing more; it is tried again with the next turn
      matching.rounds--;
    }
  }

  private void sliceDone(Matching matching, Asking asking) {
    matching.busy = false;
    if (matching.whenLetGo != null) {
      letGo(matching);
    } else if (!asking.isDone()) {
      goOn(matching, asking);
    } else {
      for (Question each : asking.questions) {
        matching.failed.get(each.part()).put(each.filter(), each.failed());
        each.filter().evaluated(each.run().count());
      }
      wake.run();
    }
  }

  private static void letGo(Matching matching) {
    Runnable release = matching.whenLetGo;
    if (release != null) {
      release.run();
    }
  }

  /** One selector for the messages of one part. */
  private record Question(int part, Filter filter, Runs.Checked run, BitSet failed) {}

  /**
   * Questions, and how far they are answered. The shard makes it; then it belongs to the loop
   * beside the shard, for a slice at a time.
   */
  private static final class Asking {
    private final List<Question> questions;
    private final List<Selector> selectors;
    private final Work work = new Work();
    private Selector.@Nullable Evaluator evaluator;
    private int question;
    private int message;
    private int at;

    Asking(List<Question> questions) {
      this.questions = questions;
      this.selectors = questions.stream().map(each -> each.filter().selector()).toList();
    }

    boolean isDone() {
      return question == questions.size();
    }

    /** Looks at as much as a slice may; at one message at least. */
    void slice() {
      work.endTurn();
      while (!isDone() && work.ofTurn() < INLINE_STEPS) {
        Question of = questions.get(question);
        ByteBuffer messages = of.run().messages();
        Selector.Evaluator asks = evaluator;
        if (asks == null) {
          asks = selectors.get(question).evaluator();
          evaluator = asks;
          message = 0;
          at = messages.position();
        }
        while (message < of.run().count() && work.ofTurn() < INLINE_STEPS) {
          int bytes = messages.getInt(at);
          if (!asks.matches(messages, at + 4, bytes, work)) {
            of.failed().set(message);
          }
          at += 4 + bytes;
          message++;
        }
        if (message == of.run().count()) {
          question++;
          evaluator = null;
        }
      }
    }
  }
}
