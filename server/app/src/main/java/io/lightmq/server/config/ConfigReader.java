package io.lightmq.server.config;

import io.lightmq.core.destination.DestinationSettings;
import io.lightmq.core.storage.FileFaults;
import io.lightmq.wire.entry.NearNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.tomlj.Toml;
import org.tomlj.TomlArray;
import org.tomlj.TomlParseError;
import org.tomlj.TomlParseResult;
import org.tomlj.TomlPosition;
import org.tomlj.TomlTable;

/**
 * Reads keys from one TOML file, each with its default. Every key that was asked for is known; a
 * key in the file that nobody asked for is an error at the end.
 */
final class ConfigReader {
  /** The table of tables that rule destinations. */
  static final String RULES = "destination";

  private static final long MAX_FILE_BYTES = 1 << 20;

  private final String source;
  private final TomlParseResult toml;
  private final Set<String> known = new TreeSet<>();

  private ConfigReader(String source, TomlParseResult toml) {
    this.source = source;
    this.toml = toml;
  }

  static ConfigReader of(Path file) throws ConfigException {
    try {
      long size = Files.size(file);
      if (size > MAX_FILE_BYTES) {
        throw new ConfigException(
            file + " has " + size + " bytes; a configuration has at most " + MAX_FILE_BYTES);
      }
      return of(file.toString(), Files.readString(file));
    } catch (NoSuchFileException e) {
      throw new ConfigException(
          "there is no configuration file " + file + "; check --config for its spelling");
    } catch (IOException e) {
      throw new ConfigException("cannot read the configuration: " + FileFaults.text(e));
    }
  }

  static ConfigReader of(String source, String text) throws ConfigException {
    TomlParseResult toml = Toml.parse(text);
    if (toml.hasErrors()) {
      TomlParseError error = toml.errors().get(0);
      throw new ConfigException(
          source + " line " + error.position().line() + ": " + error.getMessage());
    }
    return new ConfigReader(source, toml);
  }

  String text(String key, String otherwise) throws ConfigException {
    String found = find(key, String.class, "a text in quotes");
    return found == null ? otherwise : found;
  }

  boolean flag(String key, boolean otherwise) throws ConfigException {
    Boolean found = find(key, Boolean.class, "true or false");
    return found == null ? otherwise : found;
  }

  int number(String key, int otherwise, int least, int most) throws ConfigException {
    Long found = find(key, Long.class, "a whole number");
    return (int) inRange(key, found == null ? otherwise : found, least, most, "");
  }

  int bytes(String key, long otherwise, long least, int most) throws ConfigException {
    return (int) longBytes(key, otherwise, least, most);
  }

  long longBytes(String key, long otherwise, long least, long most) throws ConfigException {
    known.add(key);
    Object found = toml.get(key);
    long bytes;
    if (found == null) {
      bytes = otherwise;
    } else if (found instanceof Long number) {
      bytes = number;
    } else if (found instanceof String text) {
      bytes = ByteUnits.parse(text);
    } else {
      bytes = -1;
    }
    if (bytes < 0) {
      throw wrong(key, "must be a number of bytes such as 65536, \"64KiB\", \"4MiB\" or \"1GiB\"");
    }
    return inRange(key, bytes, least, most, " bytes");
  }

  List<String> texts(String key) throws ConfigException {
    TomlArray array = find(key, TomlArray.class, "a list of texts, such as [\"a\", \"b\"]");
    List<String> texts = new ArrayList<>();
    for (int i = 0; array != null && i < array.size(); i++) {
      if (!(array.get(i) instanceof String text)) {
        throw wrong(key, "must be a list of texts, such as [\"a\", \"b\"]");
      }
      texts.add(text);
    }
    return texts;
  }

  /** The destination settings of a table; what it does not name is as otherwise. */
  DestinationSettings settings(List<String> table, DestinationSettings otherwise)
      throws ConfigException {
    DestinationSettings settings = otherwise;
    for (String name : DestinationSettings.KEYS) {
      List<String> path = new ArrayList<>(table);
      path.add(name);
      String key = Toml.joinKeyPath(path);
      known.add(key);
      Object found = toml.get(key);
      if (found == null) {
        continue;
      }
      if (!(found instanceof String) && !(found instanceof Long)) {
        throw wrong(key, "must be a text in quotes or a whole number");
      }
      try {
        settings = settings.with(Map.of(name, found.toString()));
      } catch (IllegalArgumentException e) {
        throw wrong(key, String.valueOf(e.getMessage()).replaceFirst("^\\Q" + name + "\\E ", ""));
      }
    }
    return settings;
  }

  /** The names of the tables within a table, as written; their keys are then asked for by them. */
  List<String> tablesIn(String key) throws ConfigException {
    Object found = toml.get(key);
    if (found == null) {
      return List.of();
    }
    if (!(found instanceof TomlTable table)) {
      throw wrong(key, "must be a table");
    }
    List<String> names = new ArrayList<>();
    for (String name : table.keySet()) {
      if (!(table.get(List.of(name)) instanceof TomlTable)) {
        throw wrong(
            Toml.joinKeyPath(List.of(key, name)),
            "must be a table with a pattern: [" + key + ".\"orders.*\"]");
      }
      names.add(name);
    }
    return names;
  }

  ConfigException wrong(String key, String what) {
    TomlPosition at = toml.inputPositionOf(key);
    return new ConfigException(
        source + (at == null ? "" : " line " + at.line()) + ": " + key + " " + what);
  }

  /** Refuses what nobody asked for. To be called when all keys were. */
  void checkAllKnown() throws ConfigException {
    for (List<String> path : toml.keyPathSet()) {
      String key = Toml.joinKeyPath(path);
      if (!known.contains(key)) {
        int distance = NearNames.distance(path.get(0), RULES);
        if (path.size() > 2 && distance > 0 && distance <= 3) {
          throw wrong(
              key,
              "is not a key of this configuration; a rule for destinations is a table ["
                  + Toml.joinKeyPath(List.of(RULES, path.get(1)))
                  + "]");
        }
        List<String> near = NearNames.of(key, known, 1);
        throw wrong(
            key,
            "is not a key of this configuration"
                + (near.isEmpty() ? "" : "; the nearest is '" + near.get(0) + "'"));
      }
    }
  }

  Set<String> known() {
    return known;
  }

  private <T> @Nullable T find(String key, Class<T> type, String wanted) throws ConfigException {
    known.add(key);
    Object found = toml.get(key);
    if (found != null && !type.isInstance(found)) {
      throw wrong(key, "must be " + wanted);
    }
    return type.cast(found);
  }

  private long inRange(String key, long number, long least, long most, String unit)
      throws ConfigException {
    if (number < least || number > most) {
      throw wrong(key, "is " + number + unit + " but must be " + least + " to " + most + unit);
    }
    return number;
  }
}
