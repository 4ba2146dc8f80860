package io.lightmq.server.admin;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code lightmq stop}: ends a running broker in order. */
@Command(
    name = "stop",
    description =
        "Asks a running broker to end in order: it says goodbye to its clients and writes a last"
            + " checkpoint. Waits until a broker on this machine has ended.",
    mixinStandardHelpOptions = true)
public final class StopCommand implements Callable<Integer> {
  private static final int STILL_THERE = 1;

  @Mixin BrokerOptions broker = new BrokerOptions();

  @Option(
      names = "--wait",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "how long to wait for the end (${DEFAULT-VALUE}); 0 for not at all")
  int waitSeconds = 60;

  private int exitCode;

  @Override
  public Integer call() {
    if (waitSeconds < 0) {
      throw new ParameterException(
          broker.spec.commandLine(), "--wait is a number of seconds from 0 on, not " + waitSeconds);
    }
    int asked = broker.run("broker.stop", new Arguments(), this::awaitEnd);
    return asked == 0 ? exitCode : asked;
  }

  /** A process of another machine or container is not seen; then being asked is all there is. */
  private void awaitEnd(Map<?, ?> answer) {
    if (waitSeconds <= 0 || !isHere(broker.host()) || !(answer.get("pid") instanceof Number pid)) {
      return;
    }
    Optional<ProcessHandle> process = ProcessHandle.of(pid.longValue());
    if (process.isEmpty() || process.get().equals(ProcessHandle.current())) {
      return;
    }
    PrintWriter err = broker.spec.commandLine().getErr();
    try {
      process.get().onExit().get(waitSeconds, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      err.println("Process " + pid + " has not ended within " + waitSeconds + " s");
      exitCode = STILL_THERE;
    } catch (ExecutionException e) {
      err.println("Process " + pid + " cannot be waited for: " + e.getCause());
      exitCode = STILL_THERE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      exitCode = STILL_THERE;
    }
  }

  private static boolean isHere(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }
}
