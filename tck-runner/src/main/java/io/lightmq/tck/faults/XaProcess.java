package io.lightmq.tck.faults;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A process of {@link XaManager}: tells it what to do, and hears where it is. */
final class XaProcess implements AutoCloseable {
  private static final long LIMIT_SECONDS = 120;
  private static final List<String> OPTIONS =
      List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  private final TalkingProcess process;
  private final List<String> codes = new ArrayList<>();

  private XaProcess(TalkingProcess process) {
    this.process = process;
  }

  static XaProcess start(Path errors, List<String> arguments)
      throws IOException, InterruptedException, HarnessException {
    XaProcess started =
        new XaProcess(TalkingProcess.start(errors, XaManager.class, OPTIONS, arguments));
    started.await(XaManager.READY);
    return started;
  }

  void tell(String line) throws IOException {
    process.tell(line);
  }

  private String next() throws InterruptedException, HarnessException {
    String line = process.next(LIMIT_SECONDS);
    while (line.startsWith(XaManager.CODE)) {
      codes.add(line.substring(XaManager.CODE.length()));
      line = process.next(LIMIT_SECONDS);
    }
    return line;
  }

  /** Waits until it says something that begins so; the rest of that line. */
  String await(String beginning) throws InterruptedException, HarnessException {
    String line = next();
    if (!line.startsWith(beginning)) {
      throw new HarnessException("waited for '" + beginning + "', the manager says: " + line);
    }
    return line.substring(beginning.length());
  }

  /** Lets it go on from each step to that one. */
  void goTo(XaManager.Step step) throws IOException, InterruptedException, HarnessException {
    String at = await(XaManager.AT);
    while (!at.equals(step.toString())) {
      tell(XaManager.GO);
      at = await(XaManager.AT);
    }
  }

  /** Lets it go on to the end of the transaction; what became of it. */
  String goToEnd() throws IOException, InterruptedException, HarnessException {
    tell(XaManager.GO);
    return untilEnd();
  }

  /** It goes on already; stops it nowhere. */
  String untilEnd() throws IOException, InterruptedException, HarnessException {
    String line = next();
    while (!line.startsWith(XaManager.DONE)) {
      tell(XaManager.GO);
      line = next();
    }
    return line.substring(XaManager.DONE.length());
  }

  /** The codes that calls of its resources have ended with, as {@code prepare broker NAME text}. */
  List<String> takeCodes() {
    List<String> taken = List.copyOf(codes);
    codes.clear();
    return taken;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Ends it with SIGKILL. */
  void kill() throws InterruptedException {
    process.kill();
  }

  @Override
  public void close() throws InterruptedException {
    kill();
  }
}
