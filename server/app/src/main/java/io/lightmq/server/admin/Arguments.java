package io.lightmq.server.admin;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The arguments of a verb: of the options those that were given, in their order. */
final class Arguments {
  private final Map<String, String> given = new LinkedHashMap<>();

  /** Adds one, unless it was not given. */
  Arguments with(String name, @Nullable String value) {
    if (value != null) {
      given.put(name, value);
    }
    return this;
  }

  /** Adds what says yes or is left out. */
  Arguments with(String name, boolean yes) {
    return with(name, yes ? "true" : null);
  }

  /** Adds all of a group of options. */
  Arguments with(Arguments others) {
    given.putAll(others.given);
    return this;
  }

  Map<String, String> all() {
    return given;
  }
}
