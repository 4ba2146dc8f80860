package io.lightmq.tck.faults;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Lines that lead through a relay in this process, for machines that permit nothing else. */
final class RelayedLines implements Lines {
  private final List<CutLine> lines = new ArrayList<>();
  private final boolean[] reset;

  RelayedLines(int count, int brokerPort) throws IOException {
    reset = new boolean[count];
    for (int line = 0; line < count; line++) {
      lines.add(CutLine.lasting(brokerPort));
    }
  }

  @Override
  public int port(int line) {
    return lines.get(line).port();
  }

  @Override
  public void silence(int line, boolean toBroker, boolean toClient) {
    lines.get(line).silence(toBroker, toClient);
  }

  @Override
  public void reset(int line) {
    reset[line] = lines.get(line).reset() > 0;
  }

  @Override
  public boolean heal(int line) {
    boolean hit = lines.get(line).heal() || reset[line];
    reset[line] = false;
    return hit;
  }

  @Override
  public String kind() {
    return "relays";
  }

  @Override
  public void close() {
    lines.forEach(CutLine::close);
  }
}
