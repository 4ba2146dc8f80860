package io.lightmq.tck.faults;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lines of the kernel: a listener of the broker for each, whose packets a filter drops. So a side
 * that has gone is really gone, and what was lost is repeated by TCP when the line is well again.
 * Only in a network namespace of our own, or it would be the machine's filter.
 */
final class FilteredLines implements Lines {
  private static final String TABLE = "lightmq_lines";
  private static final Pattern HITS = Pattern.compile("counter packets ([1-9][0-9]*)");

  private final List<Integer> ports;

  /** Lines to these ports of the broker. */
  FilteredLines(List<Integer> ports) throws HarnessException, InterruptedException {
    if (!OwnNetwork.isInside()) {
      throw new HarnessException("packets are filtered in a network namespace of our own only");
    }
    this.ports = List.copyOf(ports);
    nft("add table inet " + TABLE);
    nft(
        "add chain inet "
            + TABLE
            + " every { type filter hook input priority 0 ; policy accept ; }");
    for (int line = 0; line < ports.size(); line++) {
      nft("add chain inet %s line%d".formatted(TABLE, line));
      for (String side : List.of("dport", "sport")) {
        rule("every", "tcp %s %d jump line%d".formatted(side, ports.get(line), line));
      }
    }
  }

  private static void nft(String command) throws HarnessException, InterruptedException {
    Shell.run("nft", command);
  }

  private static void rule(String chain, String rule)
      throws HarnessException, InterruptedException {
    nft("add rule inet %s %s %s".formatted(TABLE, chain, rule).toLowerCase(Locale.ROOT));
  }

  @Override
  public int port(int line) {
    return ports.get(line);
  }

  @Override
  public void silence(int line, boolean toBroker, boolean toClient)
      throws HarnessException, InterruptedException {
    if (toBroker) {
      rule("line" + line, "tcp dport %d counter drop".formatted(ports.get(line)));
    }
    if (toClient) {
      rule("line" + line, "tcp sport %d counter drop".formatted(ports.get(line)));
    }
  }

  /** Whoever sends to the broker is told; the broker hears nothing. */
  @Override
  public void reset(int line) throws HarnessException, InterruptedException {
    rule("line" + line, "tcp dport %d counter reject with tcp reset".formatted(ports.get(line)));
  }

  @Override
  public boolean heal(int line) throws HarnessException, InterruptedException {
    Matcher hits = HITS.matcher(Shell.run("nft", "list", "chain", "inet", TABLE, "line" + line));
    nft("flush chain inet %s line%d".formatted(TABLE, line));
    return hits.find();
  }

  @Override
  public String kind() {
    return "packets dropped in a network namespace";
  }

  @Override
  public void close() throws HarnessException, InterruptedException {
    nft("delete table inet " + TABLE);
  }
}
