package io.lightmq.server.admin;

import io.lightmq.wire.entry.NearNames;
import io.lightmq.wire.entry.Printable;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code lightmq destination}: looks after queues and topics of a running broker. */
@Command(
    name = "destination",
    description = "Lists, shows, creates, changes, deletes and empties queues and topics.",
    mixinStandardHelpOptions = true)
public final class DestinationCommand extends VerbCommand {
  /** The command, as a part of others or alone. */
  public DestinationCommand() {
    super("list, show, create, set, delete or purge");
  }

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
      List<String> near = NearNames.of(text, List.of("queue", "topic"), 1);
      throw new TypeConversionException(
          "'"
              + Printable.of(text)
              + "' is neither queue nor topic; "
              + (near.isEmpty()
                  ? "write the kind before the name, as in: queue " + Printable.of(text)
                  : "the nearest is " + near.get(0)));
    }
  }

  /** Which one. */
  static final class Which {
    @Parameters(
        index = "0",
        paramLabel = "<kind>",
        converter = KindReader.class,
        description = "queue or topic")
    private Kind kind = Kind.QUEUE;

    @Parameters(index = "1", paramLabel = "<name>", description = "its name")
    private String name = "";

    Arguments arguments() {
      return new Arguments().with("kind", kind.name().toLowerCase(Locale.ROOT)).with("name", name);
    }
  }

  @Command(name = "list", description = "Lists all destinations.", mixinStandardHelpOptions = true)
  int list(@Mixin BrokerOptions broker) {
    return broker.run("destination.list", new Arguments());
  }

  @Command(
      name = "show",
      description = "Shows a queue or topic in full.",
      mixinStandardHelpOptions = true)
  int show(@Mixin BrokerOptions broker, @Mixin Which which) {
    return broker.run("destination.show", which.arguments());
  }

  @Command(
      name = "create",
      description = "Creates a queue or topic.",
      mixinStandardHelpOptions = true)
  int create(@Mixin BrokerOptions broker, @Mixin Which which, @Mixin SettingOptions settings) {
    return broker.run("destination.create", which.arguments().with(settings.arguments()));
  }

  @Command(
      name = "set",
      description = "Changes the settings of a queue or topic.",
      mixinStandardHelpOptions = true)
  int set(@Mixin BrokerOptions broker, @Mixin Which which, @Mixin SettingOptions settings) {
    return broker.run("destination.set", which.arguments().with(settings.arguments()));
  }

  @Command(
      name = "delete",
      description = "Deletes a queue or topic with all its messages.",
      mixinStandardHelpOptions = true)
  int delete(
      @Mixin BrokerOptions broker,
      @Mixin Which which,
      @Option(
              names = "--force",
              description =
                  "also while consumers are attached, or prepared branches touch it: these are"
                      + " rolled back")
          boolean force) {
    return broker.run("destination.delete", which.arguments().with("force", force));
  }

  @Command(
      name = "purge",
      description = "Deletes the messages of a queue or topic, but for those that consumers hold.",
      mixinStandardHelpOptions = true)
  int purge(@Mixin BrokerOptions broker, @Mixin Which which) {
    return broker.run("destination.purge", which.arguments());
  }
}
