package io.lightmq.tck.hostile;

/** Frames of a broker: well formed, with values that a good broker would not send. */
final class BrokerFrames {
  private final Hostile any;

  BrokerFrames(Hostile any) {
    this.any = any;
  }

  byte[] next(int correlation) {
    int id = any.oneIn(3) ? Math.max(1, (int) any.small()) : Math.max(1, correlation);
    return switch (any.below(16)) {
      case 0 -> attached(id);
      case 1 -> new FrameBytes(13, id).done();
      case 2 ->
          new FrameBytes(14, any.oneIn(3) ? 0 : id)
              .v(any.below(60))
              .text(any.text())
              .v(any.small())
              .done();
      case 3 -> new FrameBytes(23, id).v(any.big()).done();
      case 4 -> new FrameBytes(26, id).v(any.big()).done();
      case 5 -> new FrameBytes(30, id).u8(any.below(6)).text(any.text()).done();
      case 6, 7 -> receipts(id);
      case 8 -> new FrameBytes(42, 0).v(any.big()).done();
      case 9, 10 -> pullDone();
      case 11, 12 -> deliver();
      case 13 -> new FrameBytes(61, id).text("{\"a\":" + any.text()).done();
      case 14 -> new FrameBytes(16, 0).done();
      default ->
          switch (any.below(20)) {
            case 0 -> new FrameBytes(15, 0).v(any.below(60)).text(any.text()).done();
            case 1 -> welcome();
            case 2 -> challenge();
            case 3 ->
                new FrameBytes(any.below(72), any.oneIn(2) ? 0 : id).raw(any.noise(60)).done();
            default -> new FrameBytes(16, 0).done();
          };
    };
  }

  byte[] welcome() {
    FrameBytes frame = new FrameBytes(2, 0).v(any.oneIn(3) ? any.small() : 1).i64(any.wild());
    return frame
        .i64(any.bits())
        .i64(any.bits())
        .v(any.small())
        .v(any.small())
        .v(any.small())
        .v(any.small())
        .done();
  }

  byte[] challenge() {
    String salt = any.oneIn(2) ? "c2FsdA==" : any.text();
    long iterations = any.oneIn(2) ? 200_000 : any.big();
    return new FrameBytes(4, 0)
        .bytes(
            ("r=" + any.text() + ",s=" + salt + ",i=" + iterations)
                .getBytes(java.nio.charset.StandardCharsets.UTF_8))
        .done();
  }

  byte[] attached(int id) {
    int outcomes = any.below(4);
    FrameBytes frame = new FrameBytes(11, id).v(any.big()).v(outcomes);
    for (int i = 0; i < outcomes; i++) {
      frame.v(any.big()).v(any.below(60)).text(any.text());
    }
    return frame.v(any.big()).done();
  }

  private byte[] receipts(int id) {
    int done = any.below(3);
    FrameBytes frame = new FrameBytes(41, 0).v(done);
    for (int i = 0; i < done; i++) {
      frame.v(any.oneIn(2) ? id : any.small()).v(any.oneIn(3) ? any.small() : 1);
    }
    int refused = any.below(3);
    frame.v(refused);
    for (int i = 0; i < refused; i++) {
      frame.v(any.oneIn(2) ? id : any.small()).v(any.below(60)).text(any.text()).v(any.small());
    }
    return frame.done();
  }

  private byte[] pullDone() {
    int ends = 1 + any.below(3);
    FrameBytes frame = new FrameBytes(51, 0).v(ends);
    for (int i = 0; i < ends; i++) {
      frame.v(any.below(6)).v(any.below(8)).v(any.oneIn(2) ? 0 : any.below(60)).v(any.small());
    }
    return frame.done();
  }

  private byte[] deliver() {
    int count = 1 + any.below(4);
    FrameBytes frame = new FrameBytes(52, 0).v(any.below(6)).v(any.below(8));
    frame.v(any.oneIn(4) ? any.small() : count);
    int seen = any.below(3);
    frame.v(seen);
    for (int i = 0; i < seen; i++) {
      frame.v(any.oneIn(3) ? any.small() : i).v(any.oneIn(3) ? any.small() : 1).u8(any.below(256));
    }
    int references = any.below(3);
    frame.v(references);
    for (int i = 0; i < references; i++) {
      frame.v(any.oneIn(3) ? any.small() : i).v(any.oneIn(3) ? any.small() : 1);
      frame.v(any.big()).v(any.big()).v(any.big());
    }
    FrameBytes entries = new FrameBytes(0, 0);
    for (int i = 0; i < count; i++) {
      entry(entries);
    }
    byte[] all = entries.done();
    return frame
        .bytes(java.util.Arrays.copyOfRange(all, FrameBytes.HEADER_BYTES, all.length))
        .done();
  }

  private void entry(FrameBytes to) {
    byte[] message = any.message(true);
    FrameBytes entry = new FrameBytes(0, 0);
    entry.u8(any.oneIn(30) ? any.below(256) : 1).u8(any.below(10)).u8(any.below(8)).u8(0);
    entry.i32(any.oneIn(10) ? (int) any.wild() : 81);
    entry.i64(any.wild()).i64(any.wild()).i64(any.wild()).i64(any.wild()).i64(any.wild());
    entry.i64(any.wild()).i64(any.oneIn(2) ? 0 : any.wild());
    entry.i32(any.oneIn(3) ? (int) any.wild() : 0).i32(any.oneIn(3) ? (int) any.wild() : 0);
    entry.u8(0).raw(message);
    byte[] whole = entry.done();
    int bytes = whole.length - FrameBytes.HEADER_BYTES + 8;
    byte[] body = java.util.Arrays.copyOfRange(whole, FrameBytes.HEADER_BYTES, whole.length);
    java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
    crc.update(body);
    to.i32(any.oneIn(20) ? (int) any.wild() : bytes).i32((int) crc.getValue()).raw(body);
  }
}
