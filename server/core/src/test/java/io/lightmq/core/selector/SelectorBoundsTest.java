package io.lightmq.core.selector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a selector may cost. The work of each test is such that a step for each pair of text and
 * selector characters takes many minutes, and one for each character less than a second or two.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SelectorBoundsTest {
  private static final int TEXT_CHARS = 1_000_000;

  private final SampleMessage sample = new SampleMessage();

  private ByteBuffer message(String name, Object value) {
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    values.put(name, value);
    return sample.encode(values);
  }

  private static int matches(int times, String selector, ByteBuffer message)
      throws InvalidSelectorException {
    Selector parsed = Selector.parse(selector);
    int matches = 0;
    for (int i = 0; i < times; i++) {
      matches += SampleMessage.matches(parsed, message) ? 1 : 0;
    }
    return matches;
  }

  /** Patterns of a thousand characters each of which almost fits at each place of the text. */
  static List<String> patterns() {
    String almost = "a".repeat(1_000);
    return List.of(
        "%" + almost + "b%",
        "%" + almost + "b",
        "%" + "a".repeat(500) + "_" + "a".repeat(500) + "b%",
        "%_" + almost + "b",
        "%a".repeat(500) + "%b%",
        "%a_".repeat(300) + "%b");
  }

  @ParameterizedTest
  @MethodSource("patterns")
  void likeReadsATextOnceHoweverOftenItAlmostFits(String pattern) throws InvalidSelectorException {
    ByteBuffer message = message("a", "a".repeat(TEXT_CHARS));
    assertThat(matches(100, "a LIKE '" + pattern + "'", message)).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"%aab%", "%a_b%", "%aab", "%a__ab", "a%aab%c", "a%a_b", "%aaa%aab%"})
  void whatAlmostFitsBeforeIsFoundBehindIt(String pattern) throws InvalidSelectorException {
    String text = "aaaaaab" + (pattern.endsWith("c") ? "c" : "");
    assertThat(matches(1, "a LIKE '" + pattern + "'", message("a", text))).isOne();
  }

  @ParameterizedTest
  @ValueSource(strings = {"aab%aab", "%aab%aab", "a%_a", "%aaba%abb%", "aab_%", "_%aab%_"})
  void partsOfAPatternDoNotShareCharacters(String pattern) throws InvalidSelectorException {
    String text = pattern.equals("a%_a") ? "aa" : "aab";
    assertThat(matches(1, "a LIKE '" + pattern + "'", message("a", text))).isZero();
  }

  /** Strings that all have the hash of every other one. */
  private static List<String> alike(int bits) {
    List<String> all = List.of("");
    for (int i = 0; i < bits; i++) {
      List<String> longer = new ArrayList<>();
      for (String each : all) {
        longer.add(each + "aA");
        longer.add(each + "BB");
      }
      all = longer;
    }
    return all;
  }

  @Test
  void longListsOfStringsWithOneHashCostLittle() throws InvalidSelectorException {
    List<String> strings = alike(11);
    String list = "a IN ('" + String.join("','", strings.subList(1, 2_048)) + "')";
    assertThat(matches(3_000_000, list, message("a", strings.get(0)))).isZero();
    assertThat(matches(1, list, message("a", strings.get(1_000)))).isOne();
  }

  @Test
  void inReadsNothingOfATextThatIsLongerThanItsStrings() throws InvalidSelectorException {
    String selector = "a IN ('x','z','w') OR ".repeat(2_500) + "a IN ('y')";
    assertThat(matches(200, selector, message("a", "y".repeat(TEXT_CHARS)))).isZero();
  }

  @Test
  void manyNamesAndManyPropertiesAreNotMultiplied() throws InvalidSelectorException {
    StringBuilder selector = new StringBuilder("p0");
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    for (int i = 1; i < 6_000; i++) {
      selector.append(" OR p").append(i);
      values.put("q" + i, true);
    }
    ByteBuffer message = sample.encode(values);
    assertThat(matches(1_000, selector.toString(), message)).isZero();
    assertThat(matches(1, selector.toString(), message("p5999", true))).isOne();
  }

  @Test
  void aNumberOfUnderscoresIsReadOnce() throws InvalidSelectorException {
    String number = "1" + "_".repeat(65_000) + "2";
    for (int i = 0; i < 200; i++) {
      Selector.parse("a = " + number);
    }
    assertThat(matches(1, "a = " + number, message("a", 12))).isOne();
    assertThatThrownBy(() -> Selector.parse("a = 1__")).hasMessageContaining("no number");
    assertThatThrownBy(() -> Selector.parse("a = 0x_1")).hasMessageContaining("no number");
    assertThatThrownBy(() -> Selector.parse("a = 1_.5")).hasMessageContaining("no number");
  }

  @Test
  void searchesOfWholeTextsAreCounted() {
    String likes = "a LIKE '%x%' OR ".repeat(31);
    assertThatCode(() -> Selector.parse(likes + "a LIKE '%y_z%'")).doesNotThrowAnyException();
    assertThatCode(() -> Selector.parse(likes + "a = b OR a = 'c' OR a > 5 OR a IN ('d')"))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> Selector.parse(likes + "a = b OR a NOT LIKE '%c%'"))
        .hasMessageContaining("search texts at most 32 times, this one does it 33 times");
    assertThatThrownBy(() -> Selector.parse(likes + "a LIKE 'a%c%' OR (a) <> b"))
        .hasMessageContaining("at most 32 times");
  }

  @Test
  void aSearchForManyCharactersWithUnderscoresCountsForEach64() {
    String long1024 = "a LIKE '%" + "a_".repeat(511) + "%'";
    assertThatCode(() -> Selector.parse(long1024 + " OR " + long1024)).doesNotThrowAnyException();
    assertThatThrownBy(() -> Selector.parse(long1024 + " OR " + long1024 + " OR a LIKE '%b%'"))
        .hasMessageContaining("this one does it 33 times");
  }

  @Test
  void patternsWithNothingBetweenTwoPercentSignsReadNoWholeText() throws InvalidSelectorException {
    String selector =
        "a LIKE 'x%' OR a LIKE '%_x' OR a LIKE '%xy' OR a LIKE 'x%_y' OR ".repeat(900);
    ByteBuffer message = message("a", "a".repeat(TEXT_CHARS));
    assertThat(matches(300, selector + "a LIKE 'b'", message)).isZero();
  }

  /** Patterns that need more heap for each of their characters than others. */
  static List<String> wide() {
    StringBuilder distinct = new StringBuilder();
    for (int i = 0; i < 1_020; i++) {
      distinct.append((char) (0x4E00 + i));
    }
    return List.of(
        "_" + distinct.substring(0, 1_018),
        "_" + distinct.substring(0, 60),
        "_" + distinct.substring(0, 120),
        distinct.toString(),
        "_" + distinct.substring(0, 500) + "a_".repeat(200),
        "_%".repeat(500) + "_",
        "x%".repeat(500) + "x",
        "_x%".repeat(330) + "x",
        "__%".repeat(330) + "x");
  }

  private static long usedHeap() {
    for (int i = 0; i < 4; i++) {
      System.gc();
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  @ParameterizedTest
  @MethodSource("wide")
  void aSelectorTakesAtMost64BytesOfHeapForACharacter(String pattern)
      throws InvalidSelectorException {
    for (String end : List.of("%", "")) {
      String text = asOftenAsItMayBe("a LIKE '%" + pattern + end + "'");
      int count = Math.max(10, 1_000_000 / text.length());
      List<Selector> kept = new ArrayList<>(count);
      long before = usedHeap();
      for (int i = 0; i < count; i++) {
        kept.add(Selector.parse(text));
      }
      long used = usedHeap() - before;
      assertThat(used / kept.size()).as("%d chars", text.length()).isLessThan(64L * text.length());
    }
  }

  /** A selector that has a condition as often as one may. */
  private static String asOftenAsItMayBe(String condition) {
    int most = 1;
    int tooMany = 2;
    while (parses(repeated(condition, tooMany))) {
      most = tooMany;
      tooMany *= 2;
    }
    while (tooMany - most > 1) {
      int middle = (most + tooMany) / 2;
      if (parses(repeated(condition, middle))) {
        most = middle;
      } else {
        tooMany = middle;
      }
    }
    return repeated(condition, most);
  }

  private static String repeated(String condition, int times) {
    return String.join(" OR ", Collections.nCopies(times, condition));
  }

  private static boolean parses(String text) {
    try {
      Selector.parse(text);
      return true;
    } catch (InvalidSelectorException e) {
      return false;
    }
  }

  @Test
  void longPartsWithUnderscoresFindWhatRegularExpressionsFind() throws InvalidSelectorException {
    int found = 0;
    for (int seed = 0; seed < 2_000; seed++) {
      Random random = new Random(seed);
      int[] letters = {'a', 'b', 0xE9, 0x4E2D, 0x1F600, 'c' + random.nextInt(20)};
      int kinds = 1 + random.nextInt(letters.length);
      int[] text = random.ints(400, 0, kinds).map(i -> letters[i]).toArray();
      int length = 60 + random.nextInt(250);
      int at = random.nextInt(text.length - length);
      int gaps = 1 + random.nextInt(6);
      StringBuilder pattern = new StringBuilder();
      StringBuilder regex = new StringBuilder();
      boolean starts = random.nextBoolean();
      boolean ends = random.nextBoolean();
      pattern.append(starts ? "" : "%");
      regex.append(starts ? "" : ".*");
      at = starts ? 0 : ends ? text.length - length : at;
      for (int i = 0; i < length; i++) {
        boolean any = random.nextInt(gaps) == 0;
        int wrong = random.nextInt(3 * length) == 0 ? 'z' : text[at + i];
        pattern.appendCodePoint(any ? '_' : wrong);
        regex.appendCodePoint(any ? '.' : wrong);
      }
      pattern.append(ends ? "" : "%");
      regex.append(ends ? "" : ".*");
      String string = new String(text, 0, text.length);
      boolean expected =
          java.util.regex.Pattern.compile(regex.toString(), java.util.regex.Pattern.DOTALL)
              .matcher(string)
              .matches();
      found += expected ? 1 : 0;
      assertThat(matches(1, "a LIKE '" + pattern + "'", message("a", string)))
          .as("seed %d: %s on %s", seed, pattern, string)
          .isEqualTo(expected ? 1 : 0);
    }
    assertThat(found).isBetween(300, 1_900);
  }
}
