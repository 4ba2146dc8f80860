package io.lightmq.server.admin;

import io.lightmq.core.storage.FileFaults;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Printable;
import java.io.IOException;
import java.io.PrintWriter;
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
  private static final String HOW_TO_SIGN_IN =
      "Name a user who may manage with --user (default admin) and give the password with"
          + " --password, --password-file or the environment variable LIGHTMQ_PASSWORD.";

  @Spec(Spec.Target.MIXEE)
  CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--host",
      defaultValue = "${env:LIGHTMQ_HOST:-127.0.0.1}",
      description = "broker (${DEFAULT-VALUE}); without it the environment variable LIGHTMQ_HOST")
  String host = "127.0.0.1";

  @Option(
      names = "--port",
      defaultValue = "${env:LIGHTMQ_PORT:-7654}",
      description = "its port (${DEFAULT-VALUE}); without it the environment variable LIGHTMQ_PORT")
  int port = Protocol.DEFAULT_PORT;

  @Option(
      names = "--user",
      defaultValue = "${env:LIGHTMQ_USER:-admin}",
      description = "who asks (${DEFAULT-VALUE}); needs the right to manage")
  String user = "admin";

  @Option(
      names = "--password",
      interactive = true,
      prompt = "Password: ",
      arity = "0",
      description =
          "asks for the password; else it is read from --password-file or the environment variable"
              + " LIGHTMQ_PASSWORD")
  char @Nullable [] password;

  @Option(
      names = "--password-file",
      paramLabel = "FILE",
      description = "file whose first line is the password")
  @Nullable Path passwordFile;

  @Option(names = "--json", description = "prints the broker's answer as JSON")
  boolean json;

  /** Runs a verb and prints its answer; returns the exit code. */
  int run(String verb, Arguments arguments) {
    return run(verb, arguments, answer -> {});
  }

  /** The same, and hands the answer on. */
  int run(String verb, Arguments arguments, Consumer<Map<?, ?>> then) {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    String secret = findPassword();
    if (secret != null && secret.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "the password is empty; a password has at least one character");
    }
    String answer;
    try (AdminLink link = AdminLink.open(host, port, secret == null ? null : user, secret)) {
      answer = link.run(verb, arguments.all());
    } catch (AdminException e) {
      boolean nobody = e.code() == FaultCode.CLOSING;
      err.println((nobody ? "" : e.code() + ": ") + e.getMessage());
      if (e.code() == FaultCode.NOT_AUTHORIZED) {
        err.println(
            secret == null
                ? "Asked without a password, so as anonymous. " + HOW_TO_SIGN_IN
                : "Asked as the user " + user + ". " + HOW_TO_SIGN_IN);
      }
      return switch (e.code()) {
        case AUTHENTICATION_FAILED, CLOSING, PROTOCOL_ERROR, VERSION_MISMATCH -> NOT_REACHED;
        default -> REFUSED;
      };
    }
    Object parsed = Json.parse(answer);
    out.print(json ? Printable.escaped(answer) + "\n" : TextTable.of(parsed));
    out.flush();
    if (parsed instanceof Map<?, ?> map) {
      then.accept(map);
    }
    return 0;
  }

  private @Nullable String findPassword() {
    char[] given = password;
    if (given != null) {
      return new String(given);
    }
    Path file = passwordFile;
    if (file != null) {
      try {
        return Files.readString(file).lines().findFirst().orElse("");
      } catch (NoSuchFileException e) {
        throw new ParameterException(
            spec.commandLine(), "there is no file " + file + " to read the password from", e);
      } catch (IOException e) {
        throw new ParameterException(
            spec.commandLine(), "cannot read the password: " + FileFaults.text(e));
      }
    }
    return System.getenv("LIGHTMQ_PASSWORD");
  }
}
