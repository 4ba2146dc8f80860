package io.lightmq.server.admin;

import io.lightmq.core.storage.FileFaults;
import io.lightmq.core.storage.NioDisk;
import io.lightmq.node.security.UserStore;
import io.lightmq.wire.entry.Printable;
import io.lightmq.wire.scram.ScramCredential;
import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/**
 * {@code lightmq user}: the users of a running broker, or with {@code --data} those of a data
 * directory on which none runs. A new password is asked for and leaves this process only as what
 * SCRAM keeps of it.
 */
@Command(
    name = "user",
    description = "Lists, adds and removes users, and sets their passwords.",
    mixinStandardHelpOptions = true)
public final class UserCommand extends VerbCommand {
  private static final int REFUSED = 1;
  private static final int IN_USE = 3;
  private static final int MAX_PASSWORD_CHARS = 1_024;

  UserCommand() {
    super("list, add, set-password or remove");
  }

  /** Whose users: those of a broker that runs, or of a directory on which none does. */
  static final class Where {
    @Option(
        names = "--data",
        paramLabel = "DIR",
        description = "the data directory of a broker that does not run; it needs no password")
    private @Nullable Path data;
  }

  /** Where a new password comes from. */
  static final class NewPassword {
    @Option(
        names = "--new-password-file",
        paramLabel = "FILE",
        description =
            "file whose first line is the new password, - for the standard input; without it the"
                + " environment variable LIGHTMQ_NEW_PASSWORD, else it is asked for")
    private @Nullable Path file;
  }

  private interface Change {
    void apply(UserStore users) throws IOException;
  }

  @Command(name = "list", description = "Lists all users.", mixinStandardHelpOptions = true)
  int list(@Mixin BrokerOptions broker, @Mixin Where where) {
    Path data = where.data;
    if (data == null) {
      return broker.run("user.list", new Arguments());
    }
    return offline(
        data,
        false,
        users -> {
          List<Map<String, String>> rows =
              users.list().stream()
                  .map(
                      user -> {
                        Map<String, String> row = new LinkedHashMap<>();
                        row.put("name", user.name());
                        row.put("roles", String.join(", ", new TreeSet<>(user.roles())));
                        return row;
                      })
                  .toList();
          print(TextTable.of(rows));
        });
  }

  @Command(name = "add", description = "Adds a user.", mixinStandardHelpOptions = true)
  int add(
      @Mixin BrokerOptions broker,
      @Mixin Where where,
      @Mixin NewPassword password,
      @Parameters(index = "0", paramLabel = "<name>", description = "the new user") String name,
      @Option(
              names = "--role",
              defaultValue = "user",
              description =
                  "user, who may send, receive and create, or admin, who may also manage"
                      + " (${DEFAULT-VALUE})")
          String role) {
    if (!role.equals("user") && !role.equals("admin")) {
      throw new ParameterException(
          spec.commandLine(), "'" + role + "' is no role; roles are user and admin");
    }
    ScramCredential made = credential(password, name);
    Path data = where.data;
    if (data != null) {
      return offline(
          data,
          true,
          users -> {
            users.add(name, made, Set.of(role));
            print("added  " + Printable.of(name) + "\n");
          });
    }
    return broker.run(
        "user.add",
        new Arguments().with("name", name).with("role", role).with("credential", made.text()));
  }

  @Command(
      name = "set-password",
      description = "Gives a user another password; who is connected stays so.",
      mixinStandardHelpOptions = true)
  int setPassword(
      @Mixin BrokerOptions broker,
      @Mixin Where where,
      @Mixin NewPassword password,
      @Parameters(index = "0", paramLabel = "<name>", description = "the user") String name) {
    ScramCredential made = credential(password, name);
    Path data = where.data;
    if (data != null) {
      return offline(
          data,
          false,
          users -> {
            users.setPassword(name, made);
            print("changed  " + Printable.of(name) + "\n");
          });
    }
    return broker.run(
        "user.set-password", new Arguments().with("name", name).with("credential", made.text()));
  }

  @Command(
      name = "remove",
      description = "Removes a user and ends the user's connections.",
      mixinStandardHelpOptions = true)
  int remove(
      @Mixin BrokerOptions broker,
      @Mixin Where where,
      @Parameters(index = "0", paramLabel = "<name>", description = "the user") String name) {
    Path data = where.data;
    if (data == null) {
      return broker.run("user.remove", new Arguments().with("name", name));
    }
    return offline(
        data,
        false,
        users -> {
          users.remove(name);
          print("removed  " + Printable.of(name) + "\n");
        });
  }

  private void print(String text) {
    spec.commandLine().getOut().print(text);
    spec.commandLine().getOut().flush();
  }

  /** Locks the directory, so that no broker has its users in memory meanwhile. */
  private int offline(Path data, boolean mayMake, Change change) {
    if (!mayMake && !Files.isDirectory(data)) {
      throw new ParameterException(
          spec.commandLine(), "there is no directory " + data + "; check --data for its spelling");
    }
    try (NioDisk disk = NioDisk.open(data)) {
      change.apply(UserStore.open(disk.root(), false, false));
      return 0;
    } catch (IllegalArgumentException e) {
      spec.commandLine().getErr().println(e.getMessage());
      return REFUSED;
    } catch (IOException e) {
      spec.commandLine().getErr().println(FileFaults.text(e));
      return IN_USE;
    }
  }

  private ScramCredential credential(NewPassword from, String name) {
    String password = newPassword(from.file, name);
    if (password.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(),
          "no password given; use --new-password-file or the environment variable"
              + " LIGHTMQ_NEW_PASSWORD, or type it when it is asked for");
    }
    if (password.length() > MAX_PASSWORD_CHARS) {
      throw wrong(
          "a password has 1 to "
              + MAX_PASSWORD_CHARS
              + " characters, this one has "
              + password.length());
    }
    return ScramCredential.create(password, ScramCredential.DEFAULT_ITERATIONS, new SecureRandom());
  }

  private String newPassword(@Nullable Path file, String name) {
    try {
      if (file != null && !file.toString().equals("-")) {
        return Files.readString(file).lines().findFirst().orElse("");
      }
      String environment = Environment.of(spec).variables().get("LIGHTMQ_NEW_PASSWORD");
      if (file == null && environment != null) {
        return environment;
      }
      Console console = file == null ? System.console() : null;
      if (console != null) {
        return asked(console, name);
      }
      String line = BrokerOptions.firstLine();
      return line == null ? "" : line;
    } catch (IOException e) {
      throw new ParameterException(
          spec.commandLine(), "cannot read the new password: " + FileFaults.text(e), e);
    }
  }

  private String asked(Console console, String name) {
    char[] first = console.readPassword("New password of %s: ", Printable.of(name));
    char[] again = console.readPassword("Once more: ");
    if (first == null || !Arrays.equals(first, again)) {
      throw wrong("the two passwords are not the same");
    }
    return new String(first);
  }
}
