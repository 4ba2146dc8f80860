package io.lightmq.server.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TextTableTest {
  private static String show(String json) {
    return TextTable.of(Json.parse(json));
  }

  @Test
  void aListIsATableWithAHeading() {
    assertThat(
            show(
                "{\"destinations\":[{\"name\":\"orders\",\"backlog\":12},"
                    + "{\"name\":\"q\",\"backlog\":3}]}"))
        .isEqualTo(
            """
            NAME    BACKLOG
            orders  12
            q       3
            """);
  }

  @Test
  void anObjectIsNamesAndValuesWithItsListsBelow() {
    assertThat(show("{\"name\":\"t\",\"tier\":\"high\",\"subscriptions\":[{\"name\":\"s\"}]}"))
        .isEqualTo(
            """
            name  t
            tier  high

            subscriptions
            NAME
            s
            """);
  }

  @Test
  void anEmptyListSaysSo() {
    assertThat(show("[]")).isEqualTo("none\n");
    assertThat(show("{\"destinations\":[]}")).isEqualTo("no destinations\n");
    assertThat(show("{\"deadLetters\":[]}")).isEqualTo("no dead letters\n");
    assertThat(show("{\"subscriptions\":[],\"left\":0}")).isEqualTo("no subscriptions\n");
    assertThat(show("{\"damaged\":[],\"messages\":0}")).isEqualTo("no damaged messages\n");
  }

  @Test
  void aFigureBesideAnEmptyListIsNotLeftOut() {
    assertThat(show("{\"damaged\":[],\"messages\":3}")).contains("messages  3");
    assertThat(show("{\"stopping\":0}")).isEqualTo("stopping  0\n");
  }

  @Test
  void jsonValuesAreRead() {
    assertThat(Json.parse(" {\"a\" : [1, -2.5, true, false, null, \"x\\n\\u0041\\\"\"]} "))
        .isEqualTo(Map.of("a", Arrays.asList(1L, -2.5, true, false, null, "x\nA\"")));
    assertThat(Json.parse("{}")).isEqualTo(Map.of());
    assertThat(Json.parse("[[]]")).isEqualTo(List.of(List.of()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "{", "[1,", "{\"a\"}", "tru", "\"\\x\"", "1 2", "\"abc", "nil", "--1"})
  void whatIsNoJsonIsRefusedWithThePlace(String text) {
    assertThatThrownBy(() -> Json.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no JSON");
  }

  @Test
  void depthIsBounded() {
    assertThatThrownBy(() -> Json.parse("[".repeat(10_000))).hasMessageContaining("32 levels");
  }

  @Test
  void nothingOfAnAnswerMovesTheTerminal() {
    String hostile = "x\\u001b]0;pwned\\u0007\\u001b[2J\\nforged\\u202e\\u0000";
    String shown = "x\\u001b]0;pwned\\u0007\\u001b[2J\\nforged\\u202e\\u0000";
    assertThat(show("{\"letters\":[{\"cause\":\"" + hostile + "\"}]}"))
        .isEqualTo("CAUSE\n" + shown + "\n");
    assertThat(show("{\"name\":\"a\",\"" + hostile + "\":\"" + hostile + "\"}"))
        .doesNotContain("\u001b", "\u0000", "\u202e")
        .contains(shown + "  " + shown);
  }

  @Test
  void aLongCellOfATableIsShortenedButAValueBesideItsNameIsNot() {
    String text = "y".repeat(500);
    assertThat(show("[{\"name\":\"" + text + "\"}]")).contains("y... (500 characters)");
    assertThat(show("{\"name\":\"" + text + "\",\"b\":1}")).contains(text + "\n");
  }

  @Test
  void namesOfValuesAreWordsAndAnObjectWithinIsATableOfItsOwn() {
    assertThat(
            show(
                "{\"publishedSinceStart\":3,\"settings\":{\"tier\":\"high\",\"max-attempts\":10},"
                    + "\"delayed\":0,\"properties\":{\"myKey\":\"v\"},\"none\":{}}"))
        .isEqualTo(
            """
            published since start  3
            delayed                0
            none                   -

            settings
            tier          high
            max-attempts  10

            properties
            myKey  v
            """);
  }

  @Test
  void aPointInTimeIsShownAsOne() {
    assertThat(show("[{\"enqueuedMillis\":1764500000123,\"ageSeconds\":5}]"))
        .isEqualTo(
            """
            ENQUEUED                  AGE-SECONDS
            2025-11-30T10:53:20.123Z  5
            """);
    assertThat(show("{\"dueMillis\":1764500000000,\"waitMillis\":50}"))
        .isEqualTo(
            """
            due          2025-11-30T10:53:20Z
            wait millis  50
            """);
  }

  @Test
  void headingsOfSeveralWordsAreReadable() {
    assertThat(show("[{\"unresolvedLetters\":1,\"messageId\":2}]"))
        .startsWith("UNRESOLVED-LETTERS  MESSAGE-ID\n");
  }
}
