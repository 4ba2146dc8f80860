package io.lightmq.server.admin;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lightmq xa}: branches of distributed transactions that wait to be decided. */
@Command(
    name = "xa",
    description = "Lists and decides prepared branches of distributed transactions.",
    mixinStandardHelpOptions = true)
public final class XaCommand extends VerbCommand {
  XaCommand() {
    super("list, commit, rollback or forget");
  }

  @Command(
      name = "list",
      description = "Lists branches that are prepared, or decided and not forgotten; oldest first.",
      mixinStandardHelpOptions = true)
  int list(
      @Mixin BrokerOptions broker,
      @Option(names = "--owner", paramLabel = "NAME", description = "only those of that user")
          @Nullable String owner,
      @Mixin ListLimit limit) {
    return broker.run("xa.list", limit.in(new Arguments().with("owner", owner)));
  }

  @Command(
      name = "commit",
      description =
          "Commits a prepared branch in the place of its transaction manager, which is told so"
              + " until it forgets.",
      mixinStandardHelpOptions = true)
  int commit(@Mixin BrokerOptions broker, @Mixin Branch branch) {
    return broker.run("xa.commit", branch.arguments());
  }

  @Command(
      name = "rollback",
      description =
          "Rolls a prepared branch back in the place of its transaction manager, which is told so"
              + " until it forgets.",
      mixinStandardHelpOptions = true)
  int rollback(@Mixin BrokerOptions broker, @Mixin Branch branch) {
    return broker.run("xa.rollback", branch.arguments());
  }

  @Command(
      name = "forget",
      description =
          "Forgets how a branch was decided by hand; its transaction manager is not told.",
      mixinStandardHelpOptions = true)
  int forget(@Mixin BrokerOptions broker, @Mixin Branch branch) {
    return broker.run("xa.forget", branch.arguments());
  }

  /** Which branch. */
  static final class Branch {
    @Parameters(paramLabel = "BRANCH", description = "as xa list shows it")
    private String name = "";

    @Option(
        names = "--owner",
        paramLabel = "NAME",
        description = "whose it is, if several users have one of that name")
    private @Nullable String owner;

    Arguments arguments() {
      return new Arguments().with("branch", name).with("owner", owner);
    }
  }
}
