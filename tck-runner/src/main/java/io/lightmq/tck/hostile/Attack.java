package io.lightmq.tck.hostile;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What one anonymous stranger, with one thread, can try to use up. Each goes on until it is refused
 * for good, has done what it wanted, or may not go on.
 */
public enum Attack {
  LINKS("120,000 links that nobody comes back to") {
    @Override
    Result run(Target target, BooleanSupplier goOn) throws IOException {
      int links = 0;
      int refused = 0;
      int last = 0;
      while (links < 120_000 && refused < TOGETHER && goOn.getAsBoolean()) {
        try (Stranger stranger = new Stranger(target.port())) {
          int id = stranger.id();
          UUID link = UUID.randomUUID();
          int code = stranger.ask(id, new FrameBytes(10, id).uuid(link).v(1).v(1).none().done());
          links += code == 0 ? 1 : 0;
          refused += code == 0 ? 0 : 1;
          last = code == 0 ? last : code;
          stranger.reset();
        }
      }
      return new Result("%,d links, %,d refused".formatted(links, refused), last);
    }
  },
  QUEUES("queues by name") {
    @Override
    Result run(Target target, BooleanSupplier goOn) throws IOException {
      return many(
          target,
          goOn,
          (id, i) -> new FrameBytes(22, id).v(i % 9_000).v(1).u8(1).text("a" + i).done(),
          (id, i) -> new FrameBytes(24, 0).v(i % 9_000).done());
    }
  },
  TEMPORARY("temporary queues of one connection") {
    @Override
    Result run(Target target, BooleanSupplier goOn) throws IOException {
      return many(target, goOn, (id, i) -> new FrameBytes(29, id).u8(3).done(), null);
    }
  },
  SUBSCRIPTIONS("durable subscriptions of one client id") {
    @Override
    Result run(Target target, BooleanSupplier goOn) throws IOException {
      return many(
          target,
          goOn,
          (id, i) ->
              new FrameBytes(25, id)
                  .v(1)
                  .v(1)
                  .u8(2)
                  .text("attacked")
                  .u8(3)
                  .maybe("s" + i)
                  .none()
                  .u8(0)
                  .u8(0)
                  .done(),
          (id, i) -> new FrameBytes(27, id).v(1).done());
    }
  },
  REFUSALS("links that each keep 1,000 refusals") {
    @Override
    Result run(Target target, BooleanSupplier goOn) throws IOException {
      long refused = 0;
      int links = 0;
      while (links < 2_500 && goOn.getAsBoolean()) {
        try (Stranger stranger = new Stranger(target.port())) {
          stranger.attach(UUID.randomUUID(), 1);
          links++;
          byte[] message = Stranger.message(true, 0, new byte[0], new byte[1]);
          int code = 0;
          for (int i = 1; i <= 1_000 && code >= 0 && goOn.getAsBoolean(); i++) {
            code = stranger.run(1L << 40, i, message);
            refused++;
          }
          stranger.reset();
        }
      }
      return new Result("%,d refused runs of %,d links".formatted(refused, links), 0);
    }
  },
  SELECTORS("60 selectors of 32 LIKEs and texts of 4 MB") {
    @Override
    Result run(Target target, BooleanSupplier goOn) throws IOException {
      try (Stranger stranger = new Stranger(target.port())) {
        stranger.attach(UUID.randomUUID(), 1);
        StringBuilder likes = new StringBuilder("p LIKE '%a_b0_0%'");
        for (int i = 1; i < 32; i++) {
          likes.append(" OR p LIKE '%a_b").append(i % 10).append('_').append(i % 10).append("%'");
        }
        int open = 0;
        for (int i = 1; i <= 60; i++) {
          int id = stranger.id();
          String selector = likes + " OR p = '" + i + "'";
          open +=
              stranger.ask(
                          id,
                          new FrameBytes(25, id)
                              .v(i)
                              .v(1)
                              .u8(2)
                              .text("bombed")
                              .u8(1)
                              .none()
                              .maybe(selector)
                              .u8(0)
                              .u8(0)
                              .done())
                      == 0
                  ? 1
                  : 0;
        }
        long topic = stranger.topic("bombed");
        byte[] bomb =
            Stranger.message(
                false, 0, Stranger.properties("p", "a".repeat(4_000_000)), new byte[0]);
        int sent = 0;
        int last = 0;
        while (sent < 20 && last >= 0 && goOn.getAsBoolean()) {
          last = stranger.run(topic, 0, bomb);
          sent++;
        }
        return new Result("%d selectors, %d texts".formatted(open, sent), last);
      }
    }
  },
  HTTP("1,600 slow connections to the admin port") {
    @Override
    Result run(Target target, BooleanSupplier goOn) throws IOException {
      List<Socket> open = new ArrayList<>();
      int failed = 0;
      try {
        for (int i = 0; i < 1_600 && goOn.getAsBoolean(); i++) {
          open.add(connected(target.adminPort()));
          failed = slowly(open.subList(i, i + 1), 'G') + failed;
        }
        while (goOn.getAsBoolean()) {
          failed = slowly(open, 'E');
          pause(500);
        }
      } finally {
        for (Socket socket : open) {
          socket.close();
        }
      }
      return new Result(
          "%,d connections, %,d closed by the broker".formatted(open.size(), failed), 0);
    }
  },
  CONNECTS("2,000 connections that say nothing, made again when closed") {
    @Override
    Result run(Target target, BooleanSupplier goOn) throws IOException {
      List<Socket> open = new ArrayList<>();
      int made = 0;
      try {
        while (goOn.getAsBoolean()) {
          for (int i = 0; i < 20; i++) {
            open.add(connected(target.port()));
            made++;
            if (open.size() > 2_000) {
              open.remove(0).close();
            }
          }
          pause(20);
        }
      } finally {
        for (Socket socket : open) {
          socket.close();
        }
      }
      return new Result("%,d connections".formatted(made), 0);
    }
  },
  LOG("mechanisms of 16,340 bytes with forged lines") {
    @Override
    Result run(Target target, BooleanSupplier goOn) throws IOException {
      String text = "x\n2026-11-30 00:00:00 ERROR [shard] forged\u001b[2J".repeat(400);
      byte[] hello = new FrameBytes(1, 0).v(1).v(1).i64(0).text("a\nb").done();
      byte[] start = new FrameBytes(3, 0).text(text.substring(0, 16_340)).none().done();
      int made = 0;
      byte[] scrap = new byte[1_024];
      while (made < 30_000 && goOn.getAsBoolean()) {
        try (Socket socket = connected(target.port())) {
          socket.getOutputStream().write(hello);
          socket.getOutputStream().write(start);
          made++;
          // Welcome, then the refusal: the line of the log is written by then.
          if (socket.getInputStream().read(scrap) > 0) {
            socket.setSoLinger(true, 0);
          }
        } catch (IOException e) {
          made++;
        }
      }
      return new Result("%,d refused logins".formatted(made), 0);
    }
  },
  LETTERS("forged dead letters") {
    @Override
    Result run(Target target, BooleanSupplier goOn) throws IOException {
      try (Stranger stranger = new Stranger(target.port())) {
        stranger.attach(UUID.randomUUID(), 1);
        long queue = stranger.queue("DLQ");
        int sent = 0;
        for (String name : List.of("a\nb", "", "\u0000", "x".repeat(513), "temp.1.1", "payroll")) {
          byte[] properties =
              Stranger.properties("JMS_LightMQ_Origin", name, "JMS_LightMQ_OriginKind", "queue");
          stranger.run(queue, ++sent, Stranger.message(true, 0, properties, new byte[1]));
        }
        return new Result("%d letters".formatted(sent), 0);
      }
    }
  },
  HOURS("16,400 messages, each due in another hour") {
    @Override
    Result run(Target target, BooleanSupplier goOn) throws IOException {
      try (Stranger stranger = new Stranger(target.port())) {
        stranger.attach(UUID.randomUUID(), 1);
        long queue = stranger.queue("delayed-by-strangers");
        long refused = 0;
        int last = 0;
        int runs = 0;
        for (int i = 0; i < 164 && last >= 0 && goOn.getAsBoolean(); i++) {
          byte[][] run = new byte[100][];
          for (int j = 0; j < run.length; j++) {
            long hours = 20 + i * 100L + j;
            run[j] = Stranger.message(true, hours * 3_600_000, new byte[0], new byte[1]);
          }
          int code = stranger.run(queue, i + 1L, run);
          runs++;
          refused += code == 0 ? 0 : 1;
          last = code == 0 ? last : code;
        }
        return new Result("%d runs, %d refused".formatted(runs, refused), last);
      }
    }
  };

  /**
   * Where it goes.
   *
   * @param port of the messaging protocol
   * @param adminPort of {@code /healthz}
   */
  public record Target(int port, int adminPort) {}

  /**
   * How an attack ended.
   *
   * @param words in words
   * @param refusedWith the code of the last refusal, 0 if there was none, -1 for a closed
   *     connection
   */
  public record Result(String words, int refusedWith) {
    /** The codes that say that there is no more room, or that one thing asks for too much. */
    public boolean isLimit() {
      return refusedWith == Stranger.LIMIT_REACHED
          || refusedWith == Stranger.RETRY_LATER
          || refusedWith == Stranger.TOO_LARGE;
    }

    @Override
    public String toString() {
      return words + (refusedWith == 0 ? "" : ", refused with code " + refusedWith);
    }
  }

  private static final int MANY = 300_000;
  private static final int TOGETHER = 50;

  private final String summary;

  Attack(String summary) {
    this.summary = summary;
  }

  /** Whether it wants more than there is, whatever the machine: it has to meet a limit. */
  public boolean meetsLimit() {
    return switch (this) {
      case QUEUES, TEMPORARY, SUBSCRIPTIONS, SELECTORS -> true;
      case LINKS, REFUSALS, HTTP, CONNECTS, LOG, LETTERS, HOURS -> false;
    };
  }

  public String summary() {
    return summary;
  }

  abstract Result run(Target target, BooleanSupplier goOn) throws IOException;

  /** Attacks as long as it may; how it ended, in words. */
  public Result on(Target target, BooleanSupplier goOn) {
    try {
      return run(target, goOn);
    } catch (IOException e) {
      return new Result("ended by " + e, 0);
    }
  }

  /** A frame for the i-th thing. */
  private interface Frames {
    byte[] of(int id, int i);
  }

  /** Makes things, 50 asked for at a time, until all of these are refused. */
  private static Result many(
      Target target, BooleanSupplier goOn, Frames make, @Nullable Frames undo) throws IOException {
    try (Stranger stranger = new Stranger(target.port())) {
      stranger.attach(UUID.randomUUID(), 1);
      int name = stranger.id();
      stranger.ask(name, new FrameBytes(12, name).text("stranger").done());
      int made = 0;
      int refused = 0;
      int code = 0;
      for (int i = 1; i <= MANY && refused < TOGETHER && code >= 0 && goOn.getAsBoolean(); ) {
        List<Integer> asked = new ArrayList<>();
        for (int j = 0; j < TOGETHER; j++, i++) {
          int id = stranger.id();
          asked.add(id);
          stranger.send(make.of(id, i));
          if (undo != null) {
            stranger.send(undo.of(stranger.id(), i));
          }
        }
        refused = 0;
        for (int answered : stranger.codes(asked)) {
          made += answered == 0 ? 1 : 0;
          refused += answered == 0 ? 0 : 1;
          code = answered == 0 ? code : answered;
        }
      }
      return new Result("%,d made".formatted(made), code);
    }
  }

  /** A character more for each; how many were closed. */
  private static int slowly(List<Socket> open, char character) {
    int failed = 0;
    for (Socket socket : open) {
      try {
        socket.getOutputStream().write(character);
      } catch (IOException e) {
        failed++;
      }
    }
    return failed;
  }

  private static Socket connected(int port) throws IOException {
    Socket socket = new Socket();
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 5_000);
    socket.setSoTimeout(5_000);
    return socket;
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
