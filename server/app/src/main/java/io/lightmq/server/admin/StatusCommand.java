package io.lightmq.server.admin;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code lightmq status}: how a running broker is. */
@Command(
    name = "status",
    description =
        "Shows version, time since the start, connections, backlog and room of a running broker.",
    mixinStandardHelpOptions = true)
public final class StatusCommand implements Callable<Integer> {
  @Mixin BrokerOptions broker = new BrokerOptions();

  @Override
  public Integer call() {
    return broker.run("broker.status", new Arguments());
  }
}
