package io.lightmq.node.security;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lightmq.spi.Authenticator;
import io.lightmq.spi.Principal;
import io.lightmq.wire.entry.NearNames;
import io.lightmq.wire.entry.Printable;
import io.lightmq.wire.scram.ScramCredential;
import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The users of a broker, in a text file that only its owner may read:
 *
 * <pre>
 *   lightmq-users 1
 *   key:&lt;base64, 32 bytes that salt unknown users&gt;
 *   user:&lt;name, percent-encoded&gt;:&lt;roles, comma-separated&gt;:&lt;iterations&gt;:&lt;salt&gt;:&lt;stored key&gt;:&lt;server key&gt;
 * </pre>
 *
 * <p>The three last fields are base64; passwords are not in it. A file without users is that of a
 * first start that has not succeeded yet. The file is replaced as a whole: written aside, forced,
 * renamed, directory forced. At most 10,000 users. Any thread.
 */
public final class UserStore implements Authenticator {
  private static final String HEADER = "lightmq-users 1";
  private static final String FILE = "users";

  /** The file that every data directory has once a broker has run on it. */
  private static final String STORE = "store";

  private static final int MAX_FILE_BYTES = 16 << 20;
  private static final int MAX_NAME_BYTES = 255;
  private static final int MAX_USERS = 10_000;
  private static final int KEY_BYTES = 32;
  private static final int PASSWORD_LENGTH = 20;

  /** Without letters and digits that look alike. */
  private static final String PASSWORD_ALPHABET =
      "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

  private static final Set<String> ROLES = Set.of(RoleAuthorizer.ADMIN, RoleAuthorizer.USER);

  private final Path file;
  private final boolean anonymousFromLoopback;
  private final SecureRandom random = new SecureRandom();
  private final Map<String, Credential> users = new TreeMap<>();
  private byte[] unknownUserKey = new byte[KEY_BYTES];

  private UserStore(Path file, boolean anonymousFromLoopback) {
    this.file = file;
    this.anonymousFromLoopback = anonymousFromLoopback;
  }

  /** A user as others may see it. */
  public record User(String name, Set<String> roles) {
    public User {
      roles = Set.copyOf(roles);
    }
  }

  /**
   * Reads the users in a data directory; without a file makes one without users. In a directory
   * that a broker has used, a missing file is a lost one, and a new one would silently forget all
   * users: that is refused unless it was asked for.
   *
   * @param anonymousFromLoopback whether who comes from this machine without a user is let in
   * @param replaceLost whether a lost file is replaced
   * @throws IOException if the file cannot be read or written, is lost, or a line is damaged
   */
  public static UserStore open(Path directory, boolean anonymousFromLoopback, boolean replaceLost)
      throws IOException {
    UserStore store = new UserStore(directory.resolve(FILE), anonymousFromLoopback);
    if (Files.exists(store.file)) {
      store.read();
      return store;
    }
    if (!replaceLost && Files.exists(directory.resolve(STORE))) {
      throw new IOException(
          directory
              + " has been used before, but its file "
              + FILE
              + " is missing: put it back from a backup, or start once with --new-users to begin"
              + " with a new user admin");
    }
    store.random.nextBytes(store.unknownUserKey);
    store.write();
    return store;
  }

  /**
   * Makes the user {@code admin} if there is no user at all; to be called when nothing of a start
   * can fail any more, so that who reads the password can use it.
   *
   * @return the password, shown once and known to nobody afterwards; empty if there are users
   */
  public synchronized Optional<String> makeFirst() throws IOException {
    if (!users.isEmpty()) {
      return Optional.empty();
    }
    String password = newPassword();
    put("admin", password, Set.of(RoleAuthorizer.ADMIN));
    return Optional.of(password);
  }

  /**
   * Reads the users in a data directory if it has any; makes nothing.
   *
   * @throws IOException if the file cannot be read, or a line is damaged
   */
  public static Optional<UserStore> find(Path directory) throws IOException {
    return Files.exists(directory.resolve(FILE))
        ? Optional.of(open(directory, false, false))
        : Optional.empty();
  }

  /** All users, by name. */
  public synchronized List<User> list() {
    List<User> all = new ArrayList<>();
    for (Credential user : users.values()) {
      all.add(new User(user.principal().name(), user.principal().roles()));
    }
    return all;
  }

  /**
   * Adds a user.
   *
   * @throws IllegalArgumentException if there is one of this name, or a name or role cannot be
   */
  public synchronized void add(String name, ScramCredential made, Set<String> roles)
      throws IOException {
    if (users.containsKey(name)) {
      throw new IllegalArgumentException(
          "the user "
              + Printable.of(name)
              + " exists already; set-password gives it another password, remove ends it");
    }
    if (users.size() >= MAX_USERS) {
      throw new IllegalArgumentException("there are " + MAX_USERS + " users, which is the most");
    }
    replace(name, made, roles);
  }

  /**
   * Gives a user another password; who is connected stays so.
   *
   * @throws IllegalArgumentException if there is no such user
   */
  public synchronized void setPassword(String name, ScramCredential made) throws IOException {
    replace(name, made, existing(name).principal().roles());
  }

  /**
   * Removes a user.
   *
   * @throws IllegalArgumentException if there is no such user, or it is the last who may manage
   */
  public synchronized void remove(String name) throws IOException {
    Credential gone = existing(name);
    boolean others =
        users.values().stream()
            .anyMatch(
                each ->
                    !each.principal().name().equals(name)
                        && each.principal().roles().contains(RoleAuthorizer.ADMIN));
    if (!others && gone.principal().roles().contains(RoleAuthorizer.ADMIN)) {
      throw new IllegalArgumentException(
          Printable.of(name) + " is the last user with the role admin; add another one before");
    }
    users.remove(name);
    boolean written = false;
    try {
      write();
      written = true;
    } finally {
      if (!written) {
        users.put(name, gone);
      }
    }
  }

  private Credential existing(String name) {
    Credential found = users.get(name);
    if (found == null) {
      List<String> near = NearNames.of(name, users.keySet(), 1);
      throw new IllegalArgumentException(
          "there is no user "
              + Printable.of(name)
              + (near.isEmpty() ? "" : "; did you mean " + Printable.of(near.get(0)) + "?"));
    }
    return found;
  }

  /**
   * Sets a user's password and roles, adding the user if missing.
   *
   * @throws IllegalArgumentException if a name or role cannot be
   */
  public synchronized void put(String name, String password, Set<String> roles) throws IOException {
    replace(
        name, ScramCredential.create(password, ScramCredential.DEFAULT_ITERATIONS, random), roles);
  }

  private void replace(String name, ScramCredential made, Set<String> roles) throws IOException {
    int bytes = name.getBytes(UTF_8).length;
    if (bytes == 0 || bytes > MAX_NAME_BYTES) {
      throw new IllegalArgumentException(
          "a user name has 1 to " + MAX_NAME_BYTES + " bytes, not " + bytes);
    }
    if (name.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "a user name has no control characters, this one is " + Printable.of(name));
    }
    if (roles.isEmpty() || !ROLES.containsAll(roles)) {
      throw new IllegalArgumentException(
          "roles are admin and user, not " + Printable.of(String.join(",", roles)));
    }
    Credential before = users.get(name);
    users.put(
        name,
        new Credential(
            new Principal(name, roles),
            made.salt(),
            made.iterations(),
            made.storedKey(),
            made.serverKey()));
    boolean written = false;
    try {
      write();
      written = true;
    } finally {
      if (!written && before == null) {
        users.remove(name);
      } else if (!written) {
        users.put(name, before);
      }
    }
  }

  @Override
  public synchronized Optional<Credential> find(String userName) {
    return Optional.ofNullable(users.get(userName));
  }

  @Override
  public Optional<Principal> anonymous(boolean loopback) {
    return loopback && anonymousFromLoopback
        ? Optional.of(new Principal("anonymous", Set.of(RoleAuthorizer.ANONYMOUS)))
        : Optional.empty();
  }

  /** The secret that salts unknown users. */
  public synchronized byte[] unknownUserKey() {
    return unknownUserKey.clone();
  }

  private String newPassword() {
    StringBuilder password = new StringBuilder(PASSWORD_LENGTH);
    for (int i = 0; i < PASSWORD_LENGTH; i++) {
      password.append(PASSWORD_ALPHABET.charAt(random.nextInt(PASSWORD_ALPHABET.length())));
    }
    return password.toString();
  }

  private synchronized void read() throws IOException {
    long size = Files.size(file);
    if (size > MAX_FILE_BYTES) {
      throw new IOException(file + " has " + size + " bytes, the limit is " + MAX_FILE_BYTES);
    }
    List<String> lines = Files.readAllLines(file, UTF_8);
    if (lines.isEmpty() || !lines.get(0).equals(HEADER)) {
      throw new IOException(
          file + " does not begin with '" + HEADER + "': it is damaged or of another version");
    }
    for (int i = 1; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (!line.isEmpty() && !line.startsWith("#")) {
        try {
          readLine(line.split(":", -1));
        } catch (IllegalArgumentException e) {
          throw new IOException(file + " line " + (i + 1) + ": " + e.getMessage(), e);
        }
      }
    }
  }

  private void readLine(String[] fields) {
    Base64.Decoder base64 = Base64.getDecoder();
    if (fields[0].equals("key") && fields.length == 2) {
      unknownUserKey = base64.decode(fields[1]);
    } else if (fields[0].equals("user") && fields.length == 7) {
      String name = URLDecoder.decode(fields[1], UTF_8);
      Set<String> roles = fields[2].isEmpty() ? Set.of() : Set.of(fields[2].split(",", -1));
      ScramCredential checked =
          new ScramCredential(
              base64.decode(fields[4]),
              Integer.parseInt(fields[3]),
              base64.decode(fields[5]),
              base64.decode(fields[6]));
      users.put(
          name,
          new Credential(
              new Principal(name, roles),
              checked.salt(),
              checked.iterations(),
              checked.storedKey(),
              checked.serverKey()));
    } else {
      throw new IllegalArgumentException(
          "expected 'key' with 1 or 'user' with 6 fields, found '"
              + fields[0]
              + "' with "
              + (fields.length - 1));
    }
  }

  private synchronized void write() throws IOException {
    Base64.Encoder base64 = Base64.getEncoder();
    StringBuilder text = new StringBuilder(HEADER).append('\n');
    text.append("key:").append(base64.encodeToString(unknownUserKey)).append('\n');
    for (Credential user : users.values()) {
      List<String> roles = new ArrayList<>(user.principal().roles());
      roles.sort(null);
      text.append("user:")
          .append(URLEncoder.encode(user.principal().name(), UTF_8))
          .append(':')
          .append(String.join(",", roles))
          .append(':')
          .append(user.iterations())
          .append(':')
          .append(base64.encodeToString(user.salt()))
          .append(':')
          .append(base64.encodeToString(user.storedKey()))
          .append(':')
          .append(base64.encodeToString(user.serverKey()))
          .append('\n');
    }
    replace(text.toString());
  }

  private void replace(String text) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    Path aside = file.resolveSibling(FILE + ".new");
    Files.deleteIfExists(aside);
    FileAttribute<?>[] ownerOnly =
        FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
            ? new FileAttribute<?>[] {
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
            }
            : new FileAttribute<?>[0];
    try (FileChannel channel =
        FileChannel.open(
            aside, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), ownerOnly)) {
      ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(aside, file, StandardCopyOption.ATOMIC_MOVE);
    if (directory != null) {
      try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
        channel.force(true);
      }
    }
  }
}
