package io.lightmq.tck.hostile;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Clients that attack a broker, one connection after the other on each of a few threads: some
 * before they authenticate, some with changed frames of a recorded session, until a third of all
 * frames are such, the others with structured frames. A connection follows from its seed and its
 * kind, but for what the broker answers.
 *
 * <p>The broker may be away for a while. What it must not do is hold on to a connection whose
 * client has said that it will send nothing more.
 */
public final class HostileClients implements AutoCloseable {
  private static final int ANSWER_MILLIS = 15_000;
  private static final int REST_MILLIS = 20;
  private static final int LINKS = 2_000;
  private static final int TOGETHER = 6;
  private static final int KEPT_FINDINGS = 10;
  private static final int KEPT_BYTES = 4_096;

  /** Of all frames this part are changed frames of the recorded session. */
  static final double CHANGED = 0.34;

  private static final int CHANGED_TOGETHER = 12;
  private static final int ASKED = 0x4657_0000;

  private final int port;
  private final Recording recording;
  private final long seed;
  private final int answerMillis;
  private final AtomicLong budget = new AtomicLong();
  private final AtomicLong frames = new AtomicLong();
  private final AtomicLong mutated = new AtomicLong();
  private final AtomicLong attempts = new AtomicLong();
  private final AtomicLong connections = new AtomicLong();
  private final AtomicLong goodbyes = new AtomicLong();
  private final AtomicLong refusals = new AtomicLong();
  private final AtomicLongArray epochs = new AtomicLongArray(LINKS);
  private final AtomicInteger working = new AtomicInteger();
  private final AtomicInteger restarts = new AtomicInteger();
  private final Queue<String> findings = new ConcurrentLinkedQueue<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean over;

  public HostileClients(int port, Recording recording, long seed) {
    this(port, recording, seed, ANSWER_MILLIS);
  }

  /**
   * Clients with less patience, for tests.
   *
   * @param answerMillis how long an answer, or the end of a connection, may take
   */
  HostileClients(int port, Recording recording, long seed, int answerMillis) {
    this.port = port;
    this.recording = recording;
    this.seed = seed;
    this.answerMillis = answerMillis;
  }

  /** Starts them; they send nothing before they are {@link #allow}ed to. */
  public void start(int parallel) {
    for (int i = 0; i < parallel; i++) {
      Thread thread = new Thread(this::work, "hostile-client-" + i);
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }
  }

  /** Lets them send so many frames more. */
  public void allow(long more) {
    budget.addAndGet(more);
  }

  /** Whether they have sent what they may, and have no connection open. */
  public boolean isIdle() {
    return budget.get() <= 0 && working.get() == 0;
  }

  /** The broker is about to go away, or has come back: connections that fail now prove nothing. */
  public void brokerChanges() {
    restarts.incrementAndGet();
  }

  public long frames() {
    return frames.get();
  }

  public long mutated() {
    return mutated.get();
  }

  public long connections() {
    return connections.get();
  }

  /** How many connections the broker has ended with a word. */
  public long goodbyes() {
    return goodbyes.get();
  }

  /** How many were refused what every client begins with. */
  public long refusals() {
    return refusals.get();
  }

  /** What the broker must not have done, each with the connection's seed and its last bytes. */
  public List<String> findings() {
    return List.copyOf(findings);
  }

  @Override
  public void close() throws InterruptedException {
    over = true;
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void work() {
    while (!over) {
      working.incrementAndGet();
      boolean rest = budget.get() <= 0;
      if (!rest) {
        long number = attempts.incrementAndGet();
        boolean changed = mutated.get() < CHANGED * frames.get();
        rest = !attack(seed + number, changed);
      }
      working.decrementAndGet();
      if (rest) {
        try {
          Thread.sleep(REST_MILLIS);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
  }

  /** One connection; false if there is no broker. */
  private boolean attack(long connectionSeed, boolean changed) {
    int before = restarts.get();
    Attack attack = new Attack(new SplittableRandom(connectionSeed));
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), answerMillis);
      socket.setSoTimeout(answerMillis);
      socket.setTcpNoDelay(true);
      connections.incrementAndGet();
      attack.on(socket, changed);
      return true;
    } catch (SocketTimeoutException e) {
      if (before == restarts.get() && findings.size() < KEPT_FINDINGS) {
        findings.add(
            "the connection of seed %d hung for %,d ms %s; it had sent %s"
                .formatted(connectionSeed, answerMillis, attack.doing, attack.hex()));
      }
      return true;
    } catch (IOException e) {
      // The broker has closed the connection while we wrote or is away.
      return attack.connected;
    }
  }

  /** What one connection does. */
  private final class Attack {
    private final SplittableRandom random;
    private final Hostile any;
    private final List<byte[]> sent = new ArrayList<>();
    private String doing = "connecting";
    private boolean connected;
    private Socket socket;
    private OutputStream out;
    private DataInputStream in;

    private Attack(SplittableRandom random) {
      this.random = random;
      any = new Hostile(random);
      socket = new Socket();
      out = OutputStream.nullOutputStream();
      in = new DataInputStream(java.io.InputStream.nullInputStream());
    }

    private void on(Socket open, boolean changed) throws IOException {
      socket = open;
      connected = true;
      out = new BufferedOutputStream(open.getOutputStream());
      in = new DataInputStream(new BufferedInputStream(open.getInputStream()));
      if (random.nextInt(20) == 0) {
        beforeAuthentication();
      } else if (changed) {
        changedSession();
      } else {
        structured();
      }
      end();
    }

    private void beforeAuthentication() throws IOException {
      doing = "before it authenticated";
      List<byte[]> frames = new ArrayList<>();
      frames.add(hello());
      frames.add(
          switch (random.nextInt(6)) {
            case 0 -> new FrameBytes(3, 0).text(any.text()).bytes(any.noise(200)).done();
            case 1 ->
                new FrameBytes(3, 0)
                    .text("SCRAM-SHA-256")
                    .bytes(
                        ("n,,n=" + any.text() + ",r=" + any.text())
                            .getBytes(java.nio.charset.StandardCharsets.UTF_8))
                    .done();
            case 2 -> new FrameBytes(3, 0).text("x".repeat(16_340)).none().done();
            case 3 -> new FrameBytes(any.below(72), any.below(3)).raw(any.noise(100)).done();
            default -> authStart();
          });
      frames.add(new FrameBytes(5, 0).bytes(any.noise(100)).done());
      int changed = random.nextInt(frames.size());
      if (random.nextBoolean()) {
        frames.set(changed, Mutation.of(frames.get(changed), recording.fromClient(), random));
      }
      for (byte[] frame : frames) {
        write(frame);
        count(1);
      }
    }

    /** A part of the session, then changed frames, until one of them ends the connection. */
    private void changedSession() throws IOException {
      doing = "with changed frames";
      askFor();
      List<byte[]> all = recording.fromClient();
      int at = random.nextInt(all.size());
      // Frames further back would only repeat what other connections have sent.
      for (int i = Math.max(1, at - random.nextInt(30)); i < at; i++) {
        write(all.get(i));
      }
      for (int i = 0; i < CHANGED_TOGETHER; i++) {
        byte[] changed = Mutation.of(all.get((at + i) % all.size()), all, random);
        boolean whole = FrameBytes.isWhole(changed);
        write(changed);
        mutated.incrementAndGet();
        count(1);
        if (!whole) {
          // What follows would be taken for a part of it.
          return;
        }
        if (!answers(ASKED + i)) {
          goodbyes.incrementAndGet();
          return;
        }
      }
    }

    /** Asks for something that only has an answer, so that all before it is known to be read. */
    private boolean answers(int correlation) throws IOException {
      write(new FrameBytes(28, correlation).text("nothing").done());
      out.flush();
      while (true) {
        byte[] frame = FrameBytes.read(in);
        if (FrameBytes.type(frame) == 15) {
          return false;
        }
        if (FrameBytes.correlation(frame) == correlation) {
          return true;
        }
      }
    }

    private void structured() throws IOException {
      doing = "with structured frames";
      // In one go: what is asked has to be forced, and then once.
      askFor();
      write(ClientFrames.openSession(2, 1));
      write(ClientFrames.attachProducer(3, 1, Recording.PREFIX + "queue." + random.nextInt(20)));
      // The two answers may come in any order.
      byte[] first = await(11, 23);
      byte[] second = await(FrameBytes.type(first) == 11 ? 23 : 11);
      boolean inOrder = FrameBytes.type(first) == 11;
      long last = FrameBytes.varint(inOrder ? first : second, FrameBytes.HEADER_BYTES);
      long destination = FrameBytes.varint(inOrder ? second : first, FrameBytes.HEADER_BYTES);
      ClientFrames frames = new ClientFrames(any, destination, last);
      int wanted = 20 + random.nextInt(100);
      for (int i = 0; i < wanted; i += TOGETHER) {
        for (int j = 0; j < TOGETHER; j++) {
          write(frames.next());
        }
        count(TOGETHER);
        out.flush();
        while (in.available() >= FrameBytes.HEADER_BYTES) {
          if (FrameBytes.type(FrameBytes.read(in)) == 15) {
            goodbyes.incrementAndGet();
            return;
          }
        }
      }
    }

    private void count(int more) {
      frames.addAndGet(more);
      budget.addAndGet(-more);
    }

    private byte[] hello() {
      return new FrameBytes(1, 0).v(1).v(1).i64(0).text("raw").done();
    }

    private byte[] authStart() {
      return new FrameBytes(3, 0).text("ANONYMOUS").none().done();
    }

    /** Asks to be attached to a link of a small set, so that what is remembered has a bound. */
    private void askFor() throws IOException {
      write(hello());
      write(authStart());
      await(6);
      if (random.nextInt(200) == 0) {
        UUID fresh = new UUID(random.nextLong(), random.nextLong());
        write(new FrameBytes(10, 1).uuid(fresh).v(1).v(1).none().done());
      } else {
        int link = random.nextInt(LINKS);
        write(ClientFrames.attach(1, link, epochs.incrementAndGet(link)));
      }
    }

    private byte[] await(int... types) throws IOException {
      out.flush();
      while (true) {
        byte[] frame = FrameBytes.read(in);
        for (int type : types) {
          if (FrameBytes.type(frame) == type) {
            return frame;
          }
        }
        if (FrameBytes.type(frame) == 15) {
          goodbyes.incrementAndGet();
          throw new EOFException("Goodbye instead of type " + types[0]);
        }
        if (FrameBytes.type(frame) == 14) {
          // Another connection of the link was faster, or the broker has enough of links.
          refusals.incrementAndGet();
          throw new EOFException("Fault instead of type " + types[0]);
        }
      }
    }

    private void write(byte[] frame) throws IOException {
      sent.add(frame);
      if (sent.size() > TOGETHER + 1) {
        sent.remove(0);
      }
      out.write(frame);
    }

    /** Ends with a reset, with Goodbye, or by saying nothing more; the broker has to follow. */
    private void end() throws IOException {
      out.flush();
      if (random.nextInt(3) == 0) {
        socket.setSoLinger(true, 0);
        return;
      }
      doing += ", after its end";
      if (random.nextBoolean()) {
        out.write(ClientFrames.goodbye());
        out.flush();
      }
      socket.shutdownOutput();
      long deadline = System.nanoTime() + answerMillis * 1_000_000L;
      byte[] scrap = new byte[8_192];
      while (in.read(scrap) >= 0) {
        if (System.nanoTime() > deadline) {
          throw new SocketTimeoutException("still open");
        }
      }
      socket.setSoLinger(true, 0);
    }

    private String hex() {
      StringBuilder text = new StringBuilder();
      for (byte[] frame : sent) {
        int bytes = Math.min(frame.length, KEPT_BYTES);
        text.append(HexFormat.of().formatHex(frame, 0, bytes)).append(' ');
      }
      return text.toString().strip();
    }
  }
}
