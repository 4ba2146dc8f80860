package io.lightmq.server.admin;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command that does nothing by itself: a verb has to follow its name. */
abstract class VerbCommand implements Runnable {
  private final String verbs;

  @Spec CommandSpec spec = CommandSpec.create();

  /** A command with verbs, as they are told to who names none. */
  VerbCommand(String verbs) {
    this.verbs = verbs;
  }

  @Override
  public final void run() {
    throw wrong("name a verb: " + verbs);
  }

  /** The caller's mistake. */
  final ParameterException wrong(String text) {
    return new ParameterException(spec.commandLine(), text);
  }
}
