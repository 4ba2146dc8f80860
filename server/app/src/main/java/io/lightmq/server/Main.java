package io.lightmq.server;

import io.lightmq.server.admin.DamagedCommand;
import io.lightmq.server.admin.DeadLettersCommand;
import io.lightmq.server.admin.DelayedCommand;
import io.lightmq.server.admin.DestinationCommand;
import io.lightmq.server.admin.Environment;
import io.lightmq.server.admin.LinkCommand;
import io.lightmq.server.admin.StatusCommand;
import io.lightmq.server.admin.StopCommand;
import io.lightmq.server.admin.SubscriptionCommand;
import io.lightmq.server.admin.UserCommand;
import io.lightmq.server.admin.XaCommand;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code lightmq}. */
@Command(
    name = "lightmq",
    description = "A Jakarta Messaging broker.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    subcommands = {
      RunCommand.class,
      StopCommand.class,
      StatusCommand.class,
      UserCommand.class,
      DestinationCommand.class,
      DeadLettersCommand.class,
      DelayedCommand.class,
      DamagedCommand.class,
      Main.VersionCommand.class,
      SubscriptionCommand.class,
      LinkCommand.class,
      XaCommand.class
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "1:the broker refused the request",
      "2:wrong arguments or configuration",
      "3:the broker cannot start: directory in use or damaged, port taken",
      "4:no broker there, or it does not let this user in",
      "70:the broker ended after a failure of its disk or a bug; its log has the reason",
      "143:the broker was stopped with SIGTERM; with lightmq stop it ends with 0"
    })
public final class Main implements Runnable, Environment {
  private final Map<String, String> variables;

  private Main(Map<String, String> variables) {
    this.variables = variables;
  }

  @Spec CommandSpec spec = CommandSpec.create();

  /** The version that the build has put into the manifest. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"LightMQ " + (version == null ? "(unpackaged)" : version)};
    }
  }

  /** {@code lightmq version}: the same as the option. */
  @Command(name = "version", description = "Prints the version of this program.")
  static final class VersionCommand implements Runnable {
    @Spec CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
      spec.commandLine().getOut().println(new Version().getVersion()[0]);
      spec.commandLine().getOut().flush();
    }
  }

  /** Runs the command and ends the process with its exit code. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return commandLine(System.getenv());
  }

  static CommandLine commandLine(Map<String, String> variables) {
    Mistakes mistakes = new Mistakes();
    CommandLine all = new CommandLine(new Main(variables));
    for (CommandLine group : all.getSubcommands().values()) {
      if (!group.getSubcommands().isEmpty()) {
        group.addSubcommand(new Help());
      }
    }
    return all.addSubcommand(new Help())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionStrategy(mistakes::execute)
        .setParameterExceptionHandler(mistakes)
        .setExecutionExceptionHandler(mistakes);
  }

  @Override
  public Map<String, String> variables() {
    return variables;
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "name a command: " + String.join(", ", spec.subcommands().keySet()));
  }
}
