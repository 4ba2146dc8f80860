package io.lightmq.server.admin;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code lightmq destination}: looks after queues and topics of a running broker. */
@Command(
    name = "destination",
    description = "Lists, shows, creates, changes, deletes and empties queues and topics.",
    mixinStandardHelpOptions = true)
public final class DestinationCommand implements Runnable {
  @Spec CommandSpec spec = CommandSpec.create();

  /** The kinds that have a name of their own. */
  enum Kind {
    QUEUE,
    TOPIC
  }

  /** Reads a kind; who forgot it is shown where it belongs. */
  static final class KindReader implements ITypeConverter<Kind> {
    @Override
    public Kind convert(String text) {
      for (Kind kind : Kind.values()) {
        if (kind.name().equalsIgnoreCase(text)) {
          return kind;
        }
      }
      throw new TypeConversionException(
          "'"
              + text
              + "' is neither queue nor topic; write the kind before the name, as in: queue "
              + text);
    }
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "name a verb: list, show, create, set, delete or purge");
  }

  @Command(name = "list", description = "Lists all destinations.", mixinStandardHelpOptions = true)
  int list(@Mixin BrokerOptions broker) {
    return broker.run("destination.list", Map.of());
  }

  @Command(name = "show", description = "Shows one in full.", mixinStandardHelpOptions = true)
  int show(
      @Mixin BrokerOptions broker,
      @Parameters(
              index = "0",
              paramLabel = "<kind>",
              converter = KindReader.class,
              description = "queue or topic")
          Kind kind,
      @Parameters(index = "1", paramLabel = "<name>", description = "its name") String name) {
    return broker.run("destination.show", arguments(kind, name));
  }

  @Command(name = "create", description = "Creates one.", mixinStandardHelpOptions = true)
  int create(
      @Mixin BrokerOptions broker,
      @Parameters(
              index = "0",
              paramLabel = "<kind>",
              converter = KindReader.class,
              description = "queue or topic")
          Kind kind,
      @Parameters(index = "1", paramLabel = "<name>", description = "its name") String name,
      @Mixin SettingOptions settings) {
    Map<String, String> arguments = arguments(kind, name);
    arguments.putAll(settings.arguments());
    return broker.run("destination.create", arguments);
  }

  @Command(name = "set", description = "Changes its settings.", mixinStandardHelpOptions = true)
  int set(
      @Mixin BrokerOptions broker,
      @Parameters(
              index = "0",
              paramLabel = "<kind>",
              converter = KindReader.class,
              description = "queue or topic")
          Kind kind,
      @Parameters(index = "1", paramLabel = "<name>", description = "its name") String name,
      @Mixin SettingOptions settings) {
    Map<String, String> arguments = arguments(kind, name);
    arguments.putAll(settings.arguments());
    return broker.run("destination.set", arguments);
  }

  @Command(
      name = "delete",
      description = "Deletes one with all its messages.",
      mixinStandardHelpOptions = true)
  int delete(
      @Mixin BrokerOptions broker,
      @Parameters(
              index = "0",
              paramLabel = "<kind>",
              converter = KindReader.class,
              description = "queue or topic")
          Kind kind,
      @Parameters(index = "1", paramLabel = "<name>", description = "its name") String name,
      @Option(names = "--force", description = "also while consumers are attached") boolean force) {
    Map<String, String> arguments = arguments(kind, name);
    if (force) {
      arguments.put("force", "true");
    }
    return broker.run("destination.delete", arguments);
  }

  @Command(
      name = "purge",
      description = "Deletes its messages, but for those that consumers hold.",
      mixinStandardHelpOptions = true)
  int purge(
      @Mixin BrokerOptions broker,
      @Parameters(
              index = "0",
              paramLabel = "<kind>",
              converter = KindReader.class,
              description = "queue or topic")
          Kind kind,
      @Parameters(index = "1", paramLabel = "<name>", description = "its name") String name) {
    return broker.run("destination.purge", arguments(kind, name));
  }

  private static Map<String, String> arguments(Kind kind, String name) {
    Map<String, String> arguments = new LinkedHashMap<>();
    arguments.put("kind", kind.name().toLowerCase(Locale.ROOT));
    arguments.put("name", name);
    return arguments;
  }
}
