package io.lightmq.tck.faults;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.TreeSet;

/**
 * The log of a transaction manager: a line for each transaction that it has decided to commit,
 * forced before it says so to anybody, and one when all have done it. What is not in it is rolled
 * back.
 */
final class XaLog implements AutoCloseable {
  private static final String COMMIT = "commit ";
  private static final String END = "end ";

  private final FileChannel file;
  private final Set<Integer> decided;

  private XaLog(FileChannel file, Set<Integer> decided) {
    this.file = file;
    this.decided = decided;
  }

  static XaLog open(Path path) throws IOException {
    Set<Integer> decided = decided(path);
    return new XaLog(
        FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND), decided);
  }

  /** What a log says is to be committed; a line that was not written whole says nothing. */
  static Set<Integer> decided(Path path) throws IOException {
    Set<Integer> found = new TreeSet<>();
    if (Files.exists(path)) {
      String text = Files.readString(path);
      String whole = text.substring(0, text.lastIndexOf('\n') + 1);
      for (String line : whole.split("\n", -1)) {
        if (line.startsWith(COMMIT)) {
          found.add(Integer.parseInt(line.substring(COMMIT.length())));
        }
      }
    }
    return found;
  }

  /** From here on the transaction is committed, whatever comes. */
  void commit(int transaction) throws IOException {
    write(COMMIT + transaction);
    file.force(true);
    decided.add(transaction);
  }

  /** All have committed it: nobody asks for it any more. */
  void end(int transaction) throws IOException {
    write(END + transaction);
  }

  boolean isDecided(int transaction) {
    return decided.contains(transaction);
  }

  private void write(String line) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      file.write(bytes);
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
