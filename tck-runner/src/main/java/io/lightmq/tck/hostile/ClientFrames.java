package io.lightmq.tck.hostile;

import java.util.UUID;

/**
 * Frames of a client that has authenticated: well formed, with values that a good client would not
 * send, in an order that it would not choose. Names come from small sets, so that what they make in
 * a broker has a bound.
 */
final class ClientFrames {
  private static final int QUEUES = 20;
  private static final int TOPICS = 5;
  private static final int IDS = 8;

  private final Hostile any;
  private final long destination;
  private long last;
  private int correlation = 100;

  /**
   * Frames behind a handshake.
   *
   * @param destination the id of a destination that may be sent to
   * @param last the newest number that the broker has taken of the link
   */
  ClientFrames(Hostile any, long destination, long last) {
    this.any = any;
    this.destination = destination;
    this.last = last;
  }

  /** A link of a small set; its epochs have to rise. */
  static byte[] attach(int correlation, int link, long epoch) {
    return new FrameBytes(10, correlation)
        .uuid(new UUID(0x4657A55EL, link))
        .v(epoch)
        .v(1)
        .none()
        .done();
  }

  static byte[] openSession(int correlation, int session) {
    return new FrameBytes(20, correlation).v(session).done();
  }

  static byte[] attachProducer(int correlation, int producer, String queue) {
    return new FrameBytes(22, correlation).v(producer).v(1).u8(1).text(queue).done();
  }

  static byte[] goodbye() {
    return new FrameBytes(15, 0).v(0).text("").done();
  }

  byte[] next() {
    int id = any.oneIn(100) ? 100 : ++correlation;
    return switch (any.below(30)) {
      case 0, 1, 2, 3 -> publish(id);
      case 4, 5 -> commit(id);
      case 6, 7, 8, 9 -> pull();
      case 10, 11 -> acked(new FrameBytes(53, any.oneIn(3) ? 0 : id)).done();
      case 12 -> returned(id);
      case 13 -> acked(new FrameBytes(66, 0).v(session()).u8(any.below(2))).done();
      case 14, 15, 16 -> consumer(id);
      case 17 -> new FrameBytes(27, id).v(item()).done();
      case 18 -> new FrameBytes(20, id).v(session()).done();
      case 19 -> new FrameBytes(21, id).v(session()).done();
      case 20, 21 -> named(new FrameBytes(22, id).v(item()).v(session())).done();
      case 22 -> new FrameBytes(24, 0).v(item()).done();
      case 23 -> new FrameBytes(28, id).text(subscription()).done();
      case 24 -> new FrameBytes(29, id).u8(3 + any.below(2)).done();
      case 25 -> new FrameBytes(31, id).u8(3 + any.below(2)).text(name()).done();
      case 26 -> new FrameBytes(12, id).text(clientId()).done();
      case 27 -> admin(id);
      case 28 -> new FrameBytes(16, 0).done();
      default -> outOfOrder(id);
    };
  }

  /** Frames that end a connection, at the latest when they are read. */
  private byte[] outOfOrder(int id) {
    return switch (any.below(12)) {
      case 0 -> new FrameBytes(1, 0).v(1).v(1).i64(any.wild()).text(any.text()).done();
      case 1 -> new FrameBytes(3, 0).text("ANONYMOUS").none().done();
      case 2 -> attach(id, any.below(500), any.big());
      case 3 -> new FrameBytes(any.below(72), any.oneIn(2) ? 0 : id).raw(any.noise(40)).done();
      case 4 -> new FrameBytes(13, id).done();
      default -> new FrameBytes(16, 0).done();
    };
  }

  private byte[] publish(int id) {
    int count = any.oneIn(20) ? 200 : 1 + any.below(4);
    boolean persistent = any.below(3) > 0;
    FrameBytes frame = new FrameBytes(40, id).v(target());
    frame.v(number(persistent));
    return frame.v(any.oneIn(60) ? any.small() : count).bytes(any.run(count, persistent)).done();
  }

  /** Mostly the next one, since a number that leaves out some ends the connection. */
  private long number(boolean persistent) {
    if (!persistent) {
      return 0;
    }
    if (any.oneIn(50)) {
      return any.big();
    }
    return any.oneIn(4) ? Math.max(1, last - any.below(3)) : ++last;
  }

  private byte[] commit(int id) {
    FrameBytes frame = new FrameBytes(43, id).v(session()).v(number(true));
    int runs = any.below(4);
    frame.v(runs);
    for (int i = 0; i < runs; i++) {
      int count = 1 + any.below(3);
      boolean persistent = any.below(2) == 1;
      frame.v(target()).u8(persistent ? 1 : 0).v(count).bytes(any.run(count, persistent));
    }
    return acked(frame).done();
  }

  private byte[] pull() {
    int pulls = any.oneIn(50) ? 300 : 1 + any.below(3);
    FrameBytes frame = new FrameBytes(50, 0).v(pulls);
    for (int i = 0; i < pulls; i++) {
      frame
          .v(item())
          .v(any.small())
          .v(any.small())
          .v(any.oneIn(20) ? any.small() : any.below(20_000));
      frame.v(any.oneIn(3) ? any.small() : 0);
    }
    return frame.done();
  }

  private byte[] returned(int id) {
    FrameBytes frame = acked(new FrameBytes(54, any.oneIn(2) ? 0 : id)).u8(any.below(2));
    return (any.oneIn(2) ? frame.none() : frame.maybe(shortened(any.text(), 1_024))).done();
  }

  private FrameBytes acked(FrameBytes frame) {
    int lists = any.below(3);
    frame.v(lists);
    for (int i = 0; i < lists; i++) {
      int ranges = any.below(4);
      frame.v(item()).v(target()).v(ranges);
      for (int j = 0; j < ranges; j++) {
        int lane = any.below(10) + (any.oneIn(3) ? 128 : 0);
        long sequence =
            any.oneIn(3) ? any.big() : ((long) (1 + any.below(8)) << 32) + any.below(500);
        frame.u8(any.oneIn(100) ? any.below(256) : lane).v(sequence);
        frame.v(any.oneIn(10) ? any.small() : 1 + any.below(50));
      }
    }
    return frame;
  }

  private byte[] consumer(int id) {
    int subscribe = any.oneIn(60) ? any.below(256) : any.below(6);
    FrameBytes frame = new FrameBytes(25, id).v(item()).v(session());
    boolean topic = subscribe > 0 && subscribe < 5;
    if (any.oneIn(5)) {
      named(frame);
    } else {
      frame.u8(topic ? 2 : 1).text(topic ? topic() : queue());
    }
    frame.u8(subscribe);
    if ((subscribe > 1 && subscribe < 5) || any.oneIn(20)) {
      frame.maybe(subscription());
    } else {
      frame.none();
    }
    if (any.oneIn(3)) {
      frame.maybe(any.selector());
    } else {
      frame.none();
    }
    return frame.u8(any.below(2)).u8(any.below(2)).done();
  }

  private byte[] admin(int id) {
    String[] verbs = {"destination.delete", "dead-letters.retry", "broker.stop", any.text()};
    int arguments = any.below(3);
    FrameBytes frame = new FrameBytes(60, id).text(verbs[any.below(verbs.length)]).v(arguments);
    for (int i = 0; i < arguments; i++) {
      frame.text(any.oneIn(2) ? "queue" + i : any.text() + i).text(any.text());
    }
    return frame.done();
  }

  private FrameBytes named(FrameBytes frame) {
    int kind = any.oneIn(40) ? any.below(256) : 1 + any.below(4);
    return frame.u8(kind).text(any.oneIn(10) ? any.text() : name());
  }

  private String name() {
    return any.oneIn(2) ? queue() : topic();
  }

  private String queue() {
    return Recording.PREFIX + "queue." + any.below(QUEUES);
  }

  private String topic() {
    return Recording.PREFIX + "topic." + any.below(TOPICS);
  }

  private String subscription() {
    return any.oneIn(8) ? shortened(any.text(), 100) : "subscription-" + any.below(IDS);
  }

  private String clientId() {
    return any.oneIn(8) ? shortened(any.text(), 100) : Recording.PREFIX + any.below(IDS);
  }

  private static String shortened(String text, int characters) {
    return text.length() > characters ? text.substring(0, characters) : text;
  }

  private long target() {
    return switch (any.below(6)) {
      case 0 -> any.big();
      case 1 -> 1 + any.below(60);
      default -> destination;
    };
  }

  /** A session: the one that is open, one of few others, or any. */
  private long session() {
    return any.oneIn(30) ? any.small() : 1 + any.below(any.oneIn(4) ? 5 : 1);
  }

  private long item() {
    return any.oneIn(30) ? any.small() : 1 + any.below(IDS);
  }
}
