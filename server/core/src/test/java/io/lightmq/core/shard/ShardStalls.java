package io.lightmq.core.shard;

import io.lightmq.core.door.Command;
import io.lightmq.core.runtime.Clock;
import io.lightmq.core.runtime.Ids;
import io.lightmq.core.runtime.Loop;
import io.lightmq.core.runtime.Loops;
import io.lightmq.core.runtime.ThreadLoops;
import io.lightmq.core.sim.SimulatedDisk;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/**
 * Measures for how long the shard is busy at a stretch while it has many destinations and makes
 * checkpoints and metrics: {@code ShardStalls [DESTINATIONS] [CHECKPOINTS]}. Prints the longest
 * tasks in processor time of the shard's thread, so that a busy machine changes little.
 */
final class ShardStalls {
  private final List<Long> nanos = Collections.synchronizedList(new ArrayList<>());
  private volatile boolean measuring;

  private ShardStalls() {}

  public static void main(String[] arguments) throws Exception {
    int destinations = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 100_000;
    int checkpoints = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 4;
    new ShardStalls().run(destinations, checkpoints);
  }

  private void run(int destinations, int checkpoints) throws Exception {
    ThreadLoops threads =
        new ThreadLoops(
            (name, cause) -> {
              throw new AssertionError(name, cause);
            });
    try (threads;
        Broker broker =
            Broker.open(
                BrokerHarness.settings(1 << 20, 256 << 20, 4 << 20, 4 << 20),
                new SimulatedDisk(1),
                new Timed(threads))) {
      BrokerHarness bytes = new BrokerHarness(1);
      Semaphore answers = new Semaphore(0);
      FakePeer peer =
          new FakePeer((broker.epoch() << 32) | 1) {
            @Override
            public void reply(int correlation, Reply reply) {
              answers.release();
            }

            @Override
            public void receipt(
                int correlation, io.lightmq.wire.entry.FaultCode code, String text) {
              answers.release();
            }
          };
      broker.submit(new Command.Attach(peer, 1, new UUID(1, 1), 1, 1, null));
      answers.acquire();
      for (int i = 0; i < destinations; i++) {
        broker.submit(
            new Command.AttachProducer(
                peer, 1, new DestinationName(DestinationKind.QUEUE, "q" + i), true));
        broker.submit(
            new Command.Publish(peer, 1, i + 1, i + 1, 1, bytes.bytes(true, 0, "text " + i)));
        answers.acquire(2);
      }
      long number = destinations;
      for (int round = 0; round < checkpoints; round++) {
        nanos.clear();
        measuring = true;
        long before = broker.metrics().checkpoints().done();
        broker.wantCheckpoint();
        for (int i = 0;
            i < destinations || broker.metrics().checkpoints().done() == before;
            i += 100) {
          broker.submit(
              new Command.Publish(
                  peer, 1, i % destinations + 1, ++number, 1, bytes.bytes(true, 0, "more " + i)));
          if (i % 1_000 == 0) {
            Thread.sleep(1);
          }
        }
        Thread.sleep(1_500);
        measuring = false;
        print(round);
      }
    }
  }

  private void print(int round) {
    List<Long> sorted = new ArrayList<>(nanos);
    sorted.sort(Collections.reverseOrder());
    StringBuilder line = new StringBuilder("checkpoint " + round + ", longest tasks in ms:");
    sorted.stream().limit(8).forEach(each -> line.append(" %.2f".formatted(each / 1e6)));
    long over = sorted.stream().filter(each -> each > 2_000_000).count();
    System.out.println(line + "; " + over + " of " + sorted.size() + " above 2 ms");
  }

  /** Loops whose shard's tasks are timed. */
  private final class Timed implements Loops {
    private final Loops loops;

    Timed(Loops loops) {
      this.loops = loops;
    }

    @Override
    public Loop open(String name) {
      Loop loop = loops.open(name);
      return name.startsWith("shard") ? new TimedLoop(loop) : loop;
    }

    @Override
    public Clock clock() {
      return loops.clock();
    }

    @Override
    public Ids ids() {
      return loops.ids();
    }

    @Override
    public void run(Loop loop, Runnable task) {
      loops.run(loop instanceof TimedLoop timed ? timed.loop : loop, task);
    }

    @Override
    public void whenOneDies(Consumer<IOException> listener) {
      loops.whenOneDies(listener);
    }

    @Override
    public void close() {
      loops.close();
    }
  }

  private final class TimedLoop implements Loop {
    private final Loop loop;

    TimedLoop(Loop loop) {
      this.loop = loop;
    }

    private Runnable timed(Runnable task) {
      return () -> {
        long begun = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        task.run();
        if (measuring) {
          nanos.add(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - begun);
        }
      };
    }

    @Override
    public String name() {
      return loop.name();
    }

    @Override
    public void execute(Runnable task) {
      loop.execute(timed(task));
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
      return loop.schedule(delayNanos, timed(task));
    }

    @Override
    public void onTurnEnd(Runnable hook) {
      loop.onTurnEnd(timed(hook));
    }

    @Override
    public boolean isCurrent() {
      return loop.isCurrent();
    }
  }
}
