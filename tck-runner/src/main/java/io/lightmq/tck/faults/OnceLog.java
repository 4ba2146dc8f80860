package io.lightmq.tck.faults;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * A file of what a consumer of one queue has processed: eight bytes for each message, the stream
 * and the number of its stamp, written before the next message is asked for. It outlives the
 * process that writes it; a stamp of which a kill took a part was not processed.
 */
final class OnceLog implements AutoCloseable {
  private static final int BYTES = 8;

  private final FileChannel file;
  private final ByteBuffer buffer = ByteBuffer.allocate(BYTES);

  /** Opens the file at its end. */
  OnceLog(Path path) throws IOException {
    file =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    file.position(file.size() / BYTES * BYTES);
  }

  synchronized void processed(Stamp stamp) throws IOException {
    buffer.clear().putInt(stamp.stream()).putInt(stamp.number()).flip();
    while (buffer.hasRemaining()) {
      file.write(buffer);
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }

  /** How many messages a file tells of. */
  static long count(Path path) throws IOException {
    return Files.exists(path) ? Files.size(path) / BYTES : 0;
  }

  /** What a file tells about the messages of one producer, its queue's only one. */
  static Result check(Path path, SendLog producer) throws IOException {
    ByteBuffer all = ByteBuffer.wrap(Files.exists(path) ? Files.readAllBytes(path) : new byte[0]);
    BitSet seen = new BitSet();
    List<String> violations = new ArrayList<>();
    while (all.remaining() >= BYTES) {
      Stamp stamp = new Stamp(all.getInt(), all.getInt());
      if (stamp.stream() != producer.stream()
          || stamp.number() < 1
          || stamp.number() > producer.count()) {
        violations.add("%s: %s was never sent there".formatted(producer.target(), stamp));
      } else if (seen.get(stamp.number())) {
        violations.add("%s: %s was processed twice".formatted(producer.target(), stamp));
      } else {
        seen.set(stamp.number());
      }
    }
    BitSet lost = producer.confirmedNumbers();
    lost.andNot(seen);
    return new Result(seen.cardinality(), lost.cardinality(), violations);
  }

  /**
   * One queue.
   *
   * @param processed messages that were processed
   * @param missing confirmed ones that were not, so far
   * @param violations promises that are broken
   */
  record Result(int processed, int missing, List<String> violations) {}
}
