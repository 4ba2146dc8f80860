package io.lightmq.server.admin;

import io.lightmq.core.storage.FileFaults;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import java.io.BufferedReader;
import java.io.Console;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which broker an admin command goes to, as whom, and how the answer is shown. */
final class BrokerOptions {
  private static final int REFUSED = 1;
  private static final int NOT_REACHED = 4;
  private static final int MAX_PORT = 65_535;
  private static final String DEFAULT_HOST = "127.0.0.1";
  private static final String DEFAULT_USER = "admin";
  private static final String HOW_TO_GIVE_IT =
      "use --password, which asks for it, --password-file or the environment variable"
          + " LIGHTMQ_PASSWORD";
  private static final String HOW_TO_SIGN_IN =
      "Name a user who may manage with --user (default admin) and give the password with"
          + " --password, --password-file or the environment variable LIGHTMQ_PASSWORD.";

  @Spec(Spec.Target.MIXEE)
  CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--host",
      description =
          "broker; without it the environment variable LIGHTMQ_HOST, else " + DEFAULT_HOST)
  private @Nullable String host;

  @Option(
      names = "--port",
      description =
          "its port; without it the environment variable LIGHTMQ_PORT, else "
              + Protocol.DEFAULT_PORT)
  private @Nullable String port;

  @Option(
      names = "--user",
      description =
          "who asks; needs the right to manage and a password; without it the environment variable"
              + " LIGHTMQ_USER, else "
              + DEFAULT_USER)
  private @Nullable String user;

  @Option(
      names = "--password",
      description =
          "asks for the password; else it is read from --password-file or the environment variable"
              + " LIGHTMQ_PASSWORD. It is no argument itself: everybody on the machine could read"
              + " it")
  private boolean askPassword;

  @Option(
      names = "--password-file",
      paramLabel = "FILE",
      description = "file whose first line is the password")
  private @Nullable Path passwordFile;

  @Option(names = "--json", description = "prints the broker's answer as JSON")
  private boolean json;

  /** Runs a verb and prints its answer; returns the exit code. */
  int run(String verb, Arguments arguments) {
    return run(verb, arguments, answer -> {});
  }

  /** The same, and hands the answer on. */
  int run(String verb, Arguments arguments, Consumer<Map<?, ?>> then) {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    String at = host();
    int of = port();
    String named = named("--user", user, "LIGHTMQ_USER");
    String who = named == null ? DEFAULT_USER : named;
    if (who.indexOf(':') >= 0) {
      throw wrong("the name of a user has no colon; a password is given apart: " + HOW_TO_GIVE_IT);
    }
    String secret = findPassword(who);
    if (secret == null && named != null) {
      throw wrong("no password for " + Printable.of(named) + "; " + HOW_TO_GIVE_IT);
    }
    if (secret != null && secret.isEmpty()) {
      throw wrong("the password is empty; a password has at least one character");
    }
    Object parsed;
    String answer;
    String unknown = null;
    try (AdminLink link = AdminLink.open(at, of, secret == null ? null : who, secret)) {
      try {
        answer = link.run(verb, arguments.all());
      } catch (AdminException e) {
        String more = NameCheck.afterRefusal(link, verb, arguments, e);
        throw more == null ? e : new AdminException(e.code(), e.getMessage() + "; " + more);
      }
      parsed = Json.parse(answer);
      if (parsed != null) {
        unknown = NameCheck.afterNothing(link, verb, arguments, parsed);
      }
    } catch (AdminException e) {
      boolean nobody = e.code() == FaultCode.CLOSING;
      err.println((nobody ? "" : e.code() + ": ") + e.getMessage());
      if (e.code() == FaultCode.NOT_AUTHORIZED) {
        err.println(
            secret == null
                ? "Asked without a password, so as anonymous. " + HOW_TO_SIGN_IN
                : "Asked as the user " + who + ". " + HOW_TO_SIGN_IN);
      }
      return switch (e.code()) {
        case AUTHENTICATION_FAILED, CLOSING, PROTOCOL_ERROR, VERSION_MISMATCH -> NOT_REACHED;
        default -> REFUSED;
      };
    }
    if (unknown != null && !json) {
      err.println(unknown);
      return REFUSED;
    }
    out.print(json ? Printable.escaped(answer) + "\n" : TextTable.of(parsed));
    out.flush();
    if (parsed instanceof Map<?, ?> map) {
      then.accept(map);
    }
    return 0;
  }

  /** The broker's host. */
  String host() {
    String given = named("--host", host, "LIGHTMQ_HOST");
    if (given != null && given.indexOf('@') >= 0) {
      throw wrong(
          "a host has no @; the user is given with --user, and for the password " + HOW_TO_GIVE_IT);
    }
    return given == null ? DEFAULT_HOST : given;
  }

  private int port() {
    String given = named("--port", port, "LIGHTMQ_PORT");
    if (given == null) {
      return Protocol.DEFAULT_PORT;
    }
    int number = given.matches("\\d{1,5}") ? Integer.parseInt(given) : 0;
    if (number < 1 || number > MAX_PORT) {
      throw wrong(
          (port == null ? "the environment variable LIGHTMQ_PORT" : "--port")
              + " is '"
              + Printable.of(given)
              + "' but must be 1 to "
              + MAX_PORT);
    }
    return number;
  }

  /** What an option says, else what its variable does; null if neither is given. */
  private @Nullable String named(String option, @Nullable String given, String variable) {
    if (given != null && given.isEmpty()) {
      throw wrong(option + " is empty");
    }
    return given != null ? given : Environment.of(spec).value(variable);
  }

  private ParameterException wrong(String text) {
    return new ParameterException(spec.commandLine(), text);
  }

  @SuppressWarnings("SystemConsoleNull") // from Java 22 on the console itself reads what is piped
  private @Nullable String findPassword(String who) {
    Path file = passwordFile;
    try {
      if (askPassword) {
        Console console = System.console();
        if (console == null) {
          return firstLine();
        }
        char[] typed = console.readPassword("Password of %s: ", Printable.of(who));
        return typed == null ? null : new String(typed);
      }
      if (file != null) {
        return Files.readString(file).lines().findFirst().orElse("");
      }
    } catch (NoSuchFileException e) {
      throw new ParameterException(
          spec.commandLine(), "there is no file " + file + " to read the password from", e);
    } catch (IOException e) {
      throw new ParameterException(
          spec.commandLine(), "cannot read the password: " + FileFaults.text(e), e);
    }
    return Environment.of(spec).variables().get("LIGHTMQ_PASSWORD");
  }

  /** The first line of the standard input; null if there is none. */
  static @Nullable String firstLine() throws IOException {
    return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
  }
}
