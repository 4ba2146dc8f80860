package io.lightmq.tck.golden;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a golden store holds, as its writer knew it: lines under headings, tab and text each. */
final class Manifest {
  private final Map<String, List<String>> lines = new LinkedHashMap<>();

  void add(String heading, String line) {
    lines.computeIfAbsent(heading, any -> new ArrayList<>()).add(line);
  }

  /** The lines under a heading in the order in which they were added. */
  List<String> of(String heading) {
    return List.copyOf(lines.getOrDefault(heading, List.of()));
  }

  /** Puts one line in the place of all. */
  void set(String heading, String line) {
    lines.remove(heading);
    add(heading, line);
  }

  /** Takes a line away; whether there was one like it. */
  boolean remove(String heading, String line) {
    return lines.getOrDefault(heading, List.of()).remove(line);
  }

  String only(String heading) {
    List<String> all = of(heading);
    if (all.size() != 1) {
      throw new IllegalStateException(heading + " has " + all.size() + " lines");
    }
    return all.get(0);
  }

  void write(Path file) throws IOException {
    List<String> all = new ArrayList<>();
    lines.forEach((heading, each) -> each.forEach(line -> all.add(heading + "\t" + line)));
    Files.write(file, all);
  }

  static Manifest read(Path file) throws IOException {
    Manifest manifest = new Manifest();
    for (String line : Files.readAllLines(file)) {
      int tab = line.indexOf('\t');
      manifest.add(line.substring(0, tab), line.substring(tab + 1));
    }
    return manifest;
  }
}
