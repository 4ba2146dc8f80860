package io.lightmq.core.sim;

import io.lightmq.core.runtime.Clock;
import io.lightmq.core.runtime.Ids;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.Loops;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;

/**
 * All loops on the calling thread, in an order that one seed decides. Each step picks a random loop
 * that has something to do and runs a turn of it: a random number of tasks, then the turn's hook.
 * Time stands still while anything is ready, and then moves to the next timer, when asked to.
 */
public final class SimulatedLoops implements Loops {
  private static final int MAX_TASKS = 256;

  private final Thread thread = Thread.currentThread();
  private final Random random;
  private final SimulatedClock clock = new SimulatedClock();
  private final Ids ids;
  private final List<SimulatedLoop> loops = new ArrayList<>();
  private final Map<String, Long> delays = new HashMap<>();
  private SimulatedLoop current;
  private long stepLimit = 10_000_000;
  private long order;
  private long turns;
  private boolean closed;

  public SimulatedLoops(long seed) {
    this.random = new Random(seed);
    Random idRandom = new Random(~seed);
    this.ids = () -> new UUID(idRandom.nextLong(), idRandom.nextLong());
  }

  @Override
  public Loop open(String name) {
    if (closed) {
      throw new IllegalStateException("the loops are closed");
    }
    SimulatedLoop loop = new SimulatedLoop(name);
    loops.add(loop);
    return loop;
  }

  @Override
  public Clock clock() {
    return clock;
  }

  /** The clock as what it is. */
  public SimulatedClock simulatedClock() {
    return clock;
  }

  @Override
  public Ids ids() {
    return ids;
  }

  /** Makes everything given to loops of this name from now on ready only after a time. */
  public void delay(String loopName, long nanos) {
    delays.put(loopName, nanos);
  }

  /** After so many turns without rest something goes on for ever. */
  public void stepLimit(long turnsAtMost) {
    stepLimit = turnsAtMost;
  }

  private List<String> ready() {
    return loops.stream().filter(SimulatedLoop::ready).map(SimulatedLoop::name).toList();
  }

  /** Runs one turn of a random ready loop; false if none is ready. */
  public boolean step() {
    if (current != null) {
      throw new IllegalStateException("a task of loop " + current.name + " may not run others");
    }
    List<SimulatedLoop> ready = new ArrayList<>();
    for (SimulatedLoop loop : loops) {
      if (loop.ready()) {
        ready.add(loop);
      }
    }
    if (ready.isEmpty()) {
      return false;
    }
    turns++;
    ready.get(random.nextInt(ready.size())).turn();
    return true;
  }

  /** Runs a task as in a turn of the oldest loop of a name, and does not end that turn. */
  public void within(String loopName, Runnable task) {
    within(
        loops.stream().filter(loop -> loop.name.equals(loopName)).findFirst().orElseThrow(), task);
  }

  /** The newest loop of a name. */
  public Loop newest(String loopName) {
    return loops.stream()
        .filter(loop -> loop.name.equals(loopName))
        .reduce((older, newer) -> newer)
        .orElseThrow();
  }

  /** Runs a task as in a turn of a loop, and does not end that turn. */
  public void within(Loop loop, Runnable task) {
    SimulatedLoop before = current;
    current = (SimulatedLoop) loop;
    try {
      task.run();
    } finally {
      current = before;
    }
  }

  /** How many turns all loops together have had. */
  public long turns() {
    return turns;
  }

  /** Runs until no loop is ready at this moment; time does not move. */
  public void runUntilIdle() {
    long steps = 0;
    while (step()) {
      if (++steps > stepLimit) {
        throw new AssertionError("no rest after " + stepLimit + " turns, ready are " + ready());
      }
    }
  }

  /** Lets time pass, running every timer that falls due at its time. */
  public void advance(long nanos) {
    long end = clock.nanos() + nanos;
    runUntilIdle();
    while (true) {
      long next = nextTimer();
      if (next - end > 0 || next == Long.MAX_VALUE) {
        break;
      }
      clock.advance(Math.max(0, next - clock.nanos()));
      runUntilIdle();
    }
    clock.advance(Math.max(0, end - clock.nanos()));
    runUntilIdle();
  }

  /**
   * What a call that blocks does to its loop: it stands still so long, while the others go on. If
   * one of these blocks too, it ends first, so the pause may become longer than asked for.
   */
  public void block(long nanos) {
    SimulatedLoop standing = current;
    if (standing == null || nanos == 0) {
      clock.advance(nanos);
      return;
    }
    standing.blocked = true;
    current = null;
    try {
      advance(nanos);
    } finally {
      standing.blocked = false;
      current = standing;
    }
  }

  /** Runs until a condition holds, moving time when all are idle. */
  public void runUntil(BooleanSupplier done) {
    long steps = 0;
    while (!done.getAsBoolean()) {
      if (!step()) {
        long next = nextTimer();
        if (next == Long.MAX_VALUE) {
          throw new AssertionError("all loops are idle, no timer is set, and it is not done");
        }
        clock.advance(Math.max(0, next - clock.nanos()));
      }
      if (++steps > stepLimit) {
        throw new AssertionError("not done after " + stepLimit + " turns");
      }
    }
  }

  @Override
  public void run(Loop loop, Runnable task) {
    boolean[] done = new boolean[1];
    loop.execute(
        () -> {
          task.run();
          done[0] = true;
        });
    runUntil(() -> done[0]);
  }

  /** Ends all loops at once: nothing that waits is run, as when the process is killed. */
  public void crash() {
    for (SimulatedLoop loop : loops) {
      loop.dead = true;
      loop.tasks.clear();
      loop.timers.clear();
    }
    loops.clear();
    current = null;
  }

  /** Ends some loops at once, as when one of several processes is killed. */
  public void crash(List<? extends Loop> some) {
    for (SimulatedLoop loop : List.copyOf(loops)) {
      if (some.contains(loop)) {
        loop.dead = true;
        loop.tasks.clear();
        loop.timers.clear();
        loops.remove(loop);
      }
    }
  }

  @Override
  public void close() {
    runUntilIdle();
    crash();
    closed = true;
  }

  /** The loops' names, in the order of their opening. */
  public List<String> names() {
    return loops.stream().map(loop -> loop.name).toList();
  }

  /** Timers of the loops of a name that are set. */
  public long timers(String name) {
    return loops.stream()
        .filter(loop -> loop.name.equals(name))
        .flatMap(loop -> loop.timers.stream())
        .filter(timer -> !timer.cancelled)
        .count();
  }

  private long nextTimer() {
    long next = Long.MAX_VALUE;
    for (SimulatedLoop loop : loops) {
      SimulatedTimer first = loop.blocked ? null : loop.firstTimer();
      if (first != null) {
        next = Math.min(next, first.deadline);
      }
    }
    return next;
  }

  private final class SimulatedLoop implements Loop {
    private final String name;
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final PriorityQueue<SimulatedTimer> timers = new PriorityQueue<>();
    private Runnable hook = () -> {};
    private boolean dead;
    private boolean blocked;

    /** What was given to it and waits for its delay, and when the last of that is ready. */
    private int delayed;

    private long delayedUntil;

    SimulatedLoop(String name) {
      this.name = name;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public void execute(Runnable task) {
      if (dead) {
        throw new RejectedExecutionException("loop " + name + " is closed");
      }
      long delay = delays.getOrDefault(name, 0L);
      if ((delay > 0 || delayed > 0) && tasks.isEmpty()) {
        // In the order of its coming, whatever the delay was before.
        delayedUntil = Math.max(delayedUntil, clock.nanos() + delay);
        delayed++;
        timers.add(
            new SimulatedTimer(
                delayedUntil,
                order++,
                () -> {
                  delayed--;
                  task.run();
                }));
      } else {
        tasks.add(task);
      }
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
      if (dead) {
        throw new RejectedExecutionException("loop " + name + " is closed");
      }
      SimulatedTimer timer =
          new SimulatedTimer(clock.nanos() + Math.max(0, delayNanos), order++, task);
      timers.add(timer);
      return timer;
    }

    @Override
    public void onTurnEnd(Runnable turnEnd) {
      hook = turnEnd;
    }

    @Override
    public boolean isCurrent() {
      return current == this && Thread.currentThread() == thread;
    }

    SimulatedTimer firstTimer() {
      while (!timers.isEmpty() && timers.peek().cancelled) {
        timers.poll();
      }
      return timers.peek();
    }

    boolean ready() {
      if (blocked) {
        return false;
      }
      SimulatedTimer first = firstTimer();
      return !tasks.isEmpty() || (first != null && first.deadline <= clock.nanos());
    }

    void turn() {
      current = this;
      try {
        int most = random.nextBoolean() ? MAX_TASKS : 1 + random.nextInt(4);
        for (int ran = 0; ran < most && ready() && !dead; ran++) {
          SimulatedTimer first = firstTimer();
          boolean due = first != null && first.deadline <= clock.nanos();
          if (due && (tasks.isEmpty() || random.nextBoolean())) {
            timers.poll().task.run();
          } else {
            tasks.poll().run();
          }
        }
        if (!dead) {
          hook.run();
        }
      } finally {
        current = null;
      }
    }
  }

  private static final class SimulatedTimer implements Loop.Timer, Comparable<SimulatedTimer> {
    private final long deadline;
    private final long order;
    private final Runnable task;
    private boolean cancelled;

    SimulatedTimer(long deadline, long order, Runnable task) {
      this.deadline = deadline;
      this.order = order;
      this.task = task;
    }

    @Override
    public void cancel() {
      cancelled = true;
    }

    @Override
    public int compareTo(SimulatedTimer other) {
      int byTime = Long.compare(deadline, other.deadline);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }
}
