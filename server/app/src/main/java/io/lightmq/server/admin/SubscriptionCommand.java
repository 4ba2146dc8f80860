package io.lightmq.server.admin;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lightmq subscription}: looks after the durable subscriptions of a running broker. */
@Command(
    name = "subscription",
    description = "Lists and deletes durable subscriptions, whoever owns them.",
    mixinStandardHelpOptions = true)
public final class SubscriptionCommand extends VerbCommand {
  SubscriptionCommand() {
    super("list or delete");
  }

  @Command(
      name = "list",
      description = "Lists durable subscriptions with their owners and what waits in them.",
      mixinStandardHelpOptions = true)
  int list(
      @Mixin BrokerOptions broker,
      @Option(names = "--topic", paramLabel = "NAME", description = "only those to that topic")
          @Nullable String topic,
      @Option(
              names = "--client-id",
              paramLabel = "ID",
              description = "only those of that client id")
          @Nullable String clientId,
      @Mixin ListLimit limit) {
    return broker.run(
        "subscription.list",
        limit.in(new Arguments().with("topic", topic).with("client-id", clientId)));
  }

  @Command(
      name = "delete",
      description = "Deletes a subscription with all that waits in it.",
      mixinStandardHelpOptions = true)
  int delete(
      @Mixin BrokerOptions broker,
      @Parameters(index = "0", paramLabel = "<name>", description = "its name") String name,
      @Option(
              names = "--client-id",
              paramLabel = "ID",
              description = "its client id; left out for a shared one that has none")
          @Nullable String clientId,
      @Option(
              names = "--force",
              description =
                  "also while consumers are attached, or prepared branches touch it: these are"
                      + " rolled back")
          boolean force) {
    return broker.run(
        "subscription.delete",
        new Arguments()
            .with("subscription", name)
            .with("client-id", clientId)
            .with("force", force));
  }
}
