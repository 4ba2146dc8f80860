package io.lightmq.jndi;

import java.util.ArrayList;
import java.util.List;
import javax.naming.CompositeName;
import javax.naming.Name;
import javax.naming.NamingException;

/**
 * Composite names as lists of their parts. Empty parts count for nothing, so {@code /a//b} is
 * {@code a/b}; {@code java:comp/env/x}, {@code java:/x} and {@code java:x} are {@code x}, since
 * outside an application server there is no other place for them.
 */
final class Names {
  private static final String JAVA = "java:";

  private Names() {}

  static List<String> parts(String name) throws NamingException {
    return parts(new CompositeName(name));
  }

  static List<String> parts(Name name) {
    List<String> parts = new ArrayList<>();
    for (int i = 0; i < name.size(); i++) {
      String part = name.get(i);
      if (i == 0 && part.startsWith(JAVA)) {
        part = part.substring(JAVA.length());
        if (part.equals("comp") && name.size() > 2 && name.get(1).equals("env")) {
          i++;
          continue;
        }
      }
      if (!part.isEmpty()) {
        parts.add(part);
      }
    }
    return parts;
  }

  /** The parts as one composite name. */
  static Name composite(List<String> parts) throws NamingException {
    CompositeName name = new CompositeName();
    for (String part : parts) {
      name.add(part);
    }
    return name;
  }

  /** The parts for a reader. */
  static String text(List<String> parts) {
    return String.join("/", parts);
  }
}
