package io.lightmq.core.shard;

import io.lightmq.core.shard.Command.Subscribe;
import io.lightmq.core.shard.OrderModel.Topic;
import io.lightmq.core.sim.PowerCut;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Producers that send persistent and non-persistent messages to topics whose subscriptions, durable
 * and not, shared and not, come, go and change their selectors, so that the same producer's
 * messages lie now in durable lanes and now in volatile ones; with checkpoints, overflow, kills,
 * power cuts and stops. Each subscription gets each producer's messages of one priority in the
 * order in which they were sent, over both delivery modes, and none is missing while it exists; see
 * section 6.2.9 of the specification, which asks for the order within a delivery mode.
 */
final class OrderSimulation {
  private final Random random;
  private final BrokerHarness h;
  private final Simulation.Plant plant;
  private final OrderModel model = new OrderModel();
  private final List<OrderProducer> producers = new ArrayList<>();
  private final List<OrderSubscribers> subscribers = new ArrayList<>();
  private long connections;
  private int crashes;

  OrderSimulation(long seed, Simulation.Plant plant) {
    this.random = new Random(seed);
    this.h = new BrokerHarness(seed);
    this.plant = plant;
    int memory = 4096 << random.nextInt(5);
    h.settings = BrokerHarness.settings((16 << 10) << random.nextInt(3), 1 << 16, memory, 1 << 20);
    h.wrap = plant::disk;
    boolean priorities = random.nextInt(3) == 0;
    for (int id = 0; id < 4; id++) {
      producers.add(new OrderProducer(this, id, id == 3, priorities));
    }
    subscribers.add(new OrderSubscribers(this, Subscribe.DURABLE, "one", "c1", 1));
    subscribers.add(new OrderSubscribers(this, Subscribe.DURABLE, "two", "c2", 1));
    subscribers.add(new OrderSubscribers(this, Subscribe.SHARED_DURABLE, "many", null, 2));
    subscribers.add(new OrderSubscribers(this, Subscribe.SHARED, "some", null, 2));
    subscribers.add(new OrderSubscribers(this, Subscribe.PLAIN, "now", null, 1));
    subscribers.add(new OrderSubscribers(this, Subscribe.PLAIN, "then", "c3", 1));
  }

  BrokerHarness harness() {
    return h;
  }

  Random random() {
    return random;
  }

  OrderModel model() {
    return model;
  }

  int crashes() {
    return crashes;
  }

  /** Mostly the topic whose receipts say that it is durable. */
  Topic anyTopic() {
    return random.nextInt(4) > 0 ? Topic.HIGH : Topic.FAST;
  }

  FakePeer newPeer() {
    return plant.peer((h.broker.epoch() << 32) | ++connections);
  }

  void submit(Command.Publish publish) {
    plant.submit(h.broker, publish);
  }

  /** Runs the history; throws what it finds. */
  void run() throws IOException {
    h.open();
    connect();
    int steps = 150 + random.nextInt(250);
    for (int i = 0; i < steps; i++) {
      try {
        step();
      } catch (PowerCut cut) {
        restart(true);
      }
    }
    try {
      h.loops.advance(20_000_000_000L);
      drain();
    } catch (PowerCut cut) {
      restart(true);
    }
    restart(random.nextBoolean());
    h.loops.advance(20_000_000_000L);
    look();
    producers.forEach(
        producer -> {
          if (!producer.isIdle()) {
            throw new AssertionError("a producer waits for answers");
          }
        });
    subscribers.forEach(OrderSubscribers::drainDurable);
    h.close();
  }

  private void connect() {
    producers.forEach(OrderProducer::connect);
    subscribers.forEach(OrderSubscribers::connect);
  }

  private void step() throws IOException {
    OrderSubscribers some = subscribers.get(random.nextInt(subscribers.size()));
    OrderProducer producer = producers.get(random.nextInt(producers.size()));
    int what = random.nextInt(1000);
    if (what < 370) {
      for (int runs = 1 + random.nextInt(3); runs > 0; runs--) {
        producer.send();
      }
    } else if (what < 570) {
      some.pull();
    } else if (what < 680) {
      some.acknowledge();
    } else if (what < 710) {
      some.giveBack();
    } else if (what < 800) {
      some.open();
    } else if (what < 840) {
      some.close();
    } else if (what < 860) {
      some.loseLink();
    } else if (what < 880) {
      some.unsubscribe();
    } else if (what < 900) {
      producer.loseLink();
    } else if (what < 915) {
      drain();
    } else if (what < 940) {
      h.broker.wantCheckpoint();
    } else if (what < 955) {
      restart(random.nextBoolean());
    } else if (what < 965) {
      stop();
    } else if (what < 972) {
      h.disk.cutPowerAt(1 + random.nextInt(40));
    } else {
      h.loops.advance(random.nextInt(200_000_000));
    }
    for (int n = random.nextInt(20); n > 0 && h.loops.step(); n--) {
      look();
    }
    if (random.nextInt(10) == 0) {
      h.loops.runUntilIdle();
    }
    look();
  }

  private void look() {
    if (h.broker.failure().isDone()) {
      throw new AssertionError("the shard has ended: " + h.broker.failure().join());
    }
    producers.forEach(OrderProducer::look);
    subscribers.forEach(OrderSubscribers::look);
  }

  private void drain() {
    h.loops.runUntilIdle();
    look();
    subscribers.forEach(OrderSubscribers::drain);
  }

  /** The process is killed, or the machine loses its power. */
  private void restart(boolean power) throws IOException {
    crashes++;
    for (int attempt = 0; ; attempt++) {
      h.crash(power || attempt > 0);
      ended(power || attempt > 0);
      try {
        begin();
        return;
      } catch (PowerCut cut) {
        if (attempt > 5) {
          throw new AssertionError("the power is cut again and again", cut);
        }
      }
    }
  }

  /** The broker stops in order and starts again. */
  private void stop() throws IOException {
    try {
      h.close();
      ended(false);
      begin();
    } catch (PowerCut cut) {
      restart(true);
    }
  }

  private void begin() throws IOException {
    plant.starting(true);
    h.open();
    plant.starting(false);
    if (random.nextBoolean()) {
      h.loops.delay("destage", 1 + random.nextInt(50_000_000));
    }
    connect();
  }

  private void ended(boolean power) {
    producers.forEach(OrderProducer::crashed);
    subscribers.forEach(OrderSubscribers::restarted);
    model.restarted(power);
  }
}
