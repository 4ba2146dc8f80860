package io.lightmq.node.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.spi.Authenticator.Credential;
import io.lightmq.wire.scram.ScramCredential;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UserStoreTest {
  @TempDir Path directory;

  private static boolean fits(Credential credential, String password) {
    ScramCredential made = ScramCredential.of(password, credential.salt(), credential.iterations());
    return Arrays.equals(made.storedKey(), credential.storedKey());
  }

  @Test
  void theFirstStartMakesAnAdminWhosePasswordIsToldOnce() throws IOException {
    UserStore first = UserStore.open(directory, true, false);
    assertThat(UserStore.open(directory, true, false).list())
        .as("not before it is asked")
        .isEmpty();
    String password = first.makeFirst().orElseThrow();
    assertThat(password).matches("[a-zA-Z2-9]{20}");
    Credential admin = first.find("admin").orElseThrow();
    assertThat(admin.principal().roles()).containsExactly(RoleAuthorizer.ADMIN);
    assertThat(fits(admin, password)).isTrue();
    assertThat(fits(admin, password + "x")).isFalse();
    UserStore second = UserStore.open(directory, true, false);
    assertThat(second.makeFirst()).isEmpty();
    assertThat(fits(second.find("admin").orElseThrow(), password)).isTrue();
    assertThat(second.unknownUserKey()).isEqualTo(first.unknownUserKey());
  }

  @Test
  void theFileIsForItsOwnerOnlyAndHoldsNoPassword() throws IOException {
    String password = UserStore.open(directory, true, false).makeFirst().orElseThrow();
    Path file = directory.resolve("users");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(Files.readString(file)).doesNotContain(password);
    try (var files = Files.list(directory)) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void usersWithOddNamesAndSeveralRolesComeBack() throws IOException {
    UserStore store = UserStore.open(directory, true, false);
    String name = "ada: l%velace, ÄÖ";
    store.put(name, "pass word", Set.of(RoleAuthorizer.ADMIN, RoleAuthorizer.USER));
    Credential found = UserStore.open(directory, true, false).find(name).orElseThrow();
    assertThat(found.principal().name()).isEqualTo(name);
    assertThat(found.principal().roles()).containsExactlyInAnyOrder("admin", "user");
    assertThat(fits(found, "pass word")).isTrue();
  }

  @Test
  void unknownRolesAndEmptyNamesAreRefused() throws IOException {
    UserStore store = UserStore.open(directory, true, false);
    assertThatThrownBy(() -> store.put("x", "y", Set.of("king"))).hasMessageContaining("king");
    assertThatThrownBy(() -> store.put("", "y", Set.of("user"))).hasMessageContaining("1 to 255");
    assertThat(store.find("x")).isEmpty();
  }

  @Test
  void damageNamesFileAndLine() throws IOException {
    UserStore.open(directory, true, false).makeFirst();
    Path file = directory.resolve("users");
    List<String> lines = Files.readAllLines(file);
    lines.set(2, lines.get(2).substring(0, 30));
    Files.write(file, lines);
    assertThatThrownBy(() -> UserStore.open(directory, true, false))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file + " line 3");
    Files.writeString(file, "something else\n");
    assertThatThrownBy(() -> UserStore.open(directory, true, false))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("lightmq-users 1");
  }

  @Test
  void anonymousNeedsLoopbackAndPermission() throws IOException {
    UserStore open = UserStore.open(directory, true, false);
    assertThat(open.anonymous(true)).isPresent();
    assertThat(open.anonymous(false)).isEmpty();
    assertThat(UserStore.open(directory, false, false).anonymous(true)).isEmpty();
  }

  @Test
  void aLostFileOfAUsedDirectoryIsReplacedOnlyOnRequest() throws IOException {
    UserStore.open(directory, true, false).put("ada", "secret", Set.of("user"));
    Files.createFile(directory.resolve("store"));
    assertThat(UserStore.open(directory, true, false).find("ada")).isPresent();
    assertThat(UserStore.open(directory, true, true).find("ada"))
        .as("what is there is never replaced")
        .isPresent();
    Path file = directory.resolve("users");
    Files.delete(file);
    assertThatThrownBy(() -> UserStore.open(directory, true, false))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(directory.toString(), "users is missing", "--new-users");
    assertThat(file).doesNotExist();
    UserStore replaced = UserStore.open(directory, true, true);
    assertThat(replaced.find("ada")).isEmpty();
    assertThat(replaced.makeFirst()).isPresent();
  }

  private static ScramCredential made(String password) {
    return ScramCredential.create(password, ScramCredential.MIN_ITERATIONS, new SecureRandom());
  }

  @Test
  void usersAreAddedListedChangedAndRemovedAtOnceAndForGood() throws IOException {
    UserStore store = UserStore.open(directory, true, false);
    store.makeFirst();
    store.add("ada", made("one"), Set.of("user"));
    assertThat(fits(store.find("ada").orElseThrow(), "one")).isTrue();
    store.setPassword("ada", ScramCredential.parse(made("two").text()));
    assertThat(fits(store.find("ada").orElseThrow(), "two")).isTrue();
    UserStore again = UserStore.open(directory, true, false);
    assertThat(again.list())
        .containsExactly(
            new UserStore.User("ada", Set.of("user")),
            new UserStore.User("admin", Set.of("admin")));
    assertThat(fits(again.find("ada").orElseThrow(), "two")).isTrue();
    again.remove("ada");
    assertThat(UserStore.open(directory, true, false).find("ada")).isEmpty();
  }

  @Test
  void whatCannotBeDoneWithAUserIsToldAndChangesNothing() throws IOException {
    UserStore store = UserStore.open(directory, true, false);
    store.makeFirst();
    store.add("ada", made("one"), Set.of("user"));
    byte[] before = Files.readAllBytes(directory.resolve("users"));
    assertThatThrownBy(() -> store.add("ada", made("x"), Set.of("user")))
        .hasMessageContaining("exists already");
    assertThatThrownBy(() -> store.add("x\u001b[2J", made("x"), Set.of("user")))
        .hasMessageContaining("\\u001b");
    assertThatThrownBy(() -> store.add("bob", made("x"), Set.of("king")))
        .hasMessageContaining("king");
    assertThatThrownBy(() -> store.setPassword("adda", made("x")))
        .hasMessage("there is no user adda; did you mean ada?");
    assertThatThrownBy(() -> store.remove("admin")).hasMessageContaining("last user");
    assertThatThrownBy(() -> ScramCredential.parse("SECRET"))
        .hasMessageContaining("4 fields")
        .message()
        .doesNotContain("SECRET");
    assertThat(Files.readAllBytes(directory.resolve("users"))).isEqualTo(before);
  }
}
