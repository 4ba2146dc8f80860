package io.lightmq.core.selector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.selector.Selector.IdEquality;
import io.lightmq.core.selector.Selector.IdHeader;
import io.lightmq.wire.entry.MessageScan;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The grammar of section 3.8, case by case: first what matches one message, then what does not. */
class SelectorTest {
  private static final String ID = "ID:0123456789abcdef0123456789abcdef:42";

  private final SampleMessage sample = new SampleMessage();

  private static Map<String, @Nullable Object> values() {
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    values.put("JMSMessageID", ID);
    values.put("JMSCorrelationID", "order-7");
    values.put("JMSType", "car");
    values.put("JMSTimestamp", 1_700_000_000_000L);
    values.put("JMSPriority", 7);
    values.put("color", "blue");
    values.put("weight", 2600L);
    values.put("age", 17);
    values.put("tiny", (byte) -3);
    values.put("small", (short) 300);
    values.put("ratio", 0.5);
    values.put("single", 0.1f);
    values.put("max", Integer.MAX_VALUE);
    values.put("most", Long.MAX_VALUE);
    values.put("least", Long.MIN_VALUE);
    values.put("yes", true);
    values.put("no", false);
    values.put("NumberOfOrders", "2");
    values.put("Country", "UK");
    values.put("phone", "12993");
    values.put("underscored", "_foo");
    values.put("word", "lose");
    values.put("quote", "it's");
    values.put("empty", "");
    values.put("wide", "a\uD83D\uDE00b\u00e9");
    values.put("nothing", null);
    values.put("$dollar_1", 1);
    values.put("gr\u00f6\u00dfe", 5);
    values.put("JMSXGroupID", "g");
    values.put("JMS_LightMQ_x", 3);
    values.put("nan", Double.NaN);
    return values;
  }

  private boolean matches(String text) throws InvalidSelectorException {
    return SampleMessage.matches(Selector.parse(text), sample.encode(values()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        // the specification's own examples
        "JMSType = 'car' AND color = 'blue' AND weight > 2500",
        "age BETWEEN 15 AND 19",
        "age NOT BETWEEN 18 AND 19",
        "Country IN (' UK', 'UK', 'France')",
        "Country NOT IN ('US', 'France')",
        "phone LIKE '12%3'",
        "word LIKE 'l_se'",
        "underscored LIKE '\\_%' ESCAPE '\\'",
        "phone NOT LIKE '13%3'",
        "absent IS NULL",
        "color IS NOT NULL",
        // literals
        "quote = 'it''s'",
        "empty = ''",
        "weight = 2600",
        "weight = 2600L",
        "weight = 0xA28",
        "weight = 05050",
        "weight = 0b101000101000",
        "weight = 2_600",
        "weight = 26E2",
        "weight = +2600.",
        "weight = 2.6e+3",
        "weight = 2600f",
        "weight = 2600D",
        "ratio = .5",
        "ratio = 0x1p-1",
        "least = -9223372036854775808",
        "least = - 9223372036854775808",
        "most = 9223372036854775807",
        "most = 0x7fffffffffffffff",
        "7E3 = 7000 AND -57.9E2 = -5790 AND 7. = 7 AND -95.7 < +6.2",
        "yes = TRUE AND no = false",
        "yes",
        "NOT no",
        "TRUE",
        "yes <> no",
        // identifiers
        "$dollar_1 = 1",
        "gr\u00f6\u00dfe = 5",
        "JMSXGroupID = 'g' AND JMS_LightMQ_x = 3",
        "JMSDeliveryMode = 'PERSISTENT'",
        "JMSDeliveryMode <> 'NON_PERSISTENT'",
        "JMSPriority >= 7 AND JMSPriority < 8",
        "JMSTimestamp = 1700000000000",
        "JMSMessageID = 'ID:0123456789abcdef0123456789abcdef:42'",
        "JMSMessageID LIKE 'ID:%:42'",
        "JMSCorrelationID = 'order-7'",
        "Color IS NULL AND COLOR IS NULL",
        // white space and case
        "age\t=\n17\r\f and not(no)or no",
        "age beTween 1 AnD 20 anD age iS nOt nUll",
        // precedence
        "no AND no OR yes",
        "yes OR no AND no",
        "NOT no AND yes",
        "NOT (yes AND no)",
        "2 + 3 * 4 = 14",
        "(2 + 3) * 4 = 20",
        "20 / 2 / 5 = 2",
        "10 - 3 - 2 = 5",
        "-age + 18 = 1",
        "- -age = 17",
        "-(age) = -17",
        "age - -3 = 20",
        "age*2>33",
        // numeric promotion, overflow, division
        "7 / 2 = 3",
        "7 / 2. = 3.5",
        "max + 1 < 0",
        "max + 1L > 0",
        "most + 1 = least",
        "tiny + small = 297",
        "single <> 0.1",
        "single = 0.1f",
        "most = 9223372036854775807f",
        "single * 3 = 0.3f AND single * 3 <> 0.3",
        "ratio / 0 > 1e308",
        "NOT (nan = nan) AND nan <> nan",
        "tiny BETWEEN -3 AND -3",
        "age BETWEEN JMSPriority + 9 AND weight / 100",
        // LIKE
        "word LIKE '%'",
        "empty LIKE '%'",
        "empty LIKE ''",
        "word LIKE 'lose'",
        "word LIKE '%o%e'",
        "word LIKE '____'",
        "word LIKE '%%l%%'",
        "wide LIKE 'a_b_'",
        "wide LIKE '%\u00e9'",
        "quote LIKE '%''%'",
        "underscored LIKE '__oo'",
        "underscored LIKE '!_f!oo' ESCAPE '!'",
        "NumberOfOrders NOT LIKE '3'",
        // unlike types are false, also negated
        "NOT (NumberOfOrders = 2)",
        "NOT (NumberOfOrders <> 2)",
        "NOT (NumberOfOrders > 1)",
        "NOT (NumberOfOrders + 1 > 0)",
        "NOT (NumberOfOrders BETWEEN 0 AND 9)",
        "NOT (NumberOfOrders NOT BETWEEN 5 AND 9)",
        "NOT (yes = 'true')",
        "NOT (color > weight)",
        "NOT (color > phone)",
        "NOT (age NOT IN ('17'))",
        "NOT (age IN ('17'))",
        "NOT (age NOT LIKE '17')",
        "NOT color",
        // NULL
        "nothing IS NULL",
        "absent = 1 OR yes",
        "age + absent = 3 OR yes",
        "NOT (absent = 1 AND no)",
      })
  void matchesOneMessage(String text) throws InvalidSelectorException {
    assertThat(matches(text)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "JMSType = 'truck'",
        "age BETWEEN 18 AND 19",
        "age NOT BETWEEN 15 AND 19",
        "Country IN ('Peru')",
        "Country NOT IN ('UK', 'US', 'France')",
        "phone LIKE '12_3'",
        "word LIKE 'l_s'",
        "word LIKE 'LOSE'",
        "color LIKE '\\_%' ESCAPE '\\'",
        "absent IS NOT NULL",
        "NumberOfOrders > 1",
        "NumberOfOrders = 2",
        "yes = 'true'",
        "no",
        "FALSE",
        "NOT yes",
        "color",
        "age",
        "Age = 17",
        "age NOT BETWEEN 17 AND 17",
        "NumberOfOrders NOT BETWEEN 5 AND 9",
        "color <> 5",
        "color IN ('blu', 'bluee', 'BLUE')",
        "age IN ('17')",
        "age NOT IN ('17')",
        "age NOT LIKE '17'",
        "yes <> 0",
        "empty LIKE '_'",
        "wide LIKE 'a__b_'",
        // unknown is no match, and neither is its negation
        "absent = 1",
        "NOT (absent = 1)",
        "absent <> 1",
        "absent > 1",
        "absent = absent",
        "absent LIKE '%'",
        "absent NOT LIKE '%'",
        "absent IN ('a')",
        "absent NOT IN ('a')",
        "absent BETWEEN 1 AND 2",
        "absent NOT BETWEEN 1 AND 2",
        "age BETWEEN absent AND 20",
        "age + absent = 3",
        "NOT (-absent = 3)",
        "absent",
        "NOT absent",
        "absent = 1 AND yes",
        "NOT (absent = 1 OR no)",
        "1 / 0 = 1",
        "NOT (1 / 0 = 1)",
        "1 / (age - 17) > 0 OR 1 / (age - 17) <= 0",
        "NOT (0 / 0L <> 5)",
      })
  void doesNotMatch(String text) throws InvalidSelectorException {
    assertThat(matches(text)).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "=TEST 'test'           | 1  | expected an identifier, a literal or \"(\", found \"=\"",
        "color = 'blue          | 9  | no closing quote",
        "color = \"blue\"       | 9  | single quotes",
        "color != 'blue'        | 7  | unequal is <>",
        "color == 'blue'        | 8  | expected an identifier, a literal or \"(\", found \"=\"",
        "age >                  | 6  | found the end",
        "age > 1 AND            | 12 | found the end",
        "age > 1 age < 2        | 9  | expected AND, OR or the end, found \"age\"",
        "(age > 1               | 9  | expected \")\", found the end",
        "age > 1)               | 8  | expected AND, OR or the end, found \")\"",
        "1 < age < 3            | 9  | a comparison cannot be compared",
        "5                      | 1  | a value alone is no condition",
        "age + 1                | 1  | a value alone is no condition",
        "'a'                    | 1  | a value alone is no condition",
        "NOT 5                  | 5  | a value alone is no condition",
        "yes AND 'a'            | 9  | a value alone is no condition",
        "(age > 1) = TRUE       | 1  | a condition cannot be compared",
        "-(age > 1) = 1         | 2  | a condition cannot be compared",
        "color > 'a'            | 9  | numbers only",
        "TRUE < 1               | 1  | numbers only",
        "TRUE = 0               | 8  | only be compared with booleans",
        "age + 1 <> FALSE       | 12 | only be compared with booleans",
        "'a' + 1 = 2            | 1  | numbers only",
        "age BETWEEN 'a' AND 3  | 13 | numbers only",
        "age BETWEEN 1 OR 3     | 15 | expected AND and the upper bound",
        "age = NULL             | 7  | IS NULL",
        "age IS 5               | 8  | expected NULL or NOT NULL, found the number 5",
        "age IS NOT 5           | 12 | expected NULL",
        "5 IS NULL              | 1  | expected an identifier before IS NULL",
        "5 IN ('a')             | 1  | expected an identifier before IN",
        "'a' LIKE 'a'           | 1  | expected an identifier before LIKE",
        "color IN ()            | 11 | expected a string",
        "color IN ('a' 'b')     | 15 | expected \",\" or \")\"",
        "color IN ('a', 5)      | 16 | expected a string",
        "color IN 'a'           | 10 | expected \"(\"",
        "color LIKE 5           | 12 | expected a string",
        "color LIKE other       | 12 | expected a string",
        "color LIKE 'a' ESCAPE 'bc' | 23 | a string of one character, this one has 2",
        "color LIKE 'a' ESCAPE ''   | 23 | a string of one character, this one has 0",
        "color LIKE 'a!' ESCAPE '!' | 12 | ends with its escape",
        "color NOT = 'a'        | 11 | expected BETWEEN, IN or LIKE",
        "JMSReplyTo = 'a'       | 1  | JMSReplyTo cannot be used",
        "JMSExpiration > 1      | 1  | JMSExpiration cannot be used",
        "AND = 1                | 1  | expected an identifier",
        "between = 1            | 1  | expected an identifier",
        "age = 12abc            | 7  | is no number",
        "age = 08               | 7  | is no number",
        "age = 1__              | 7  | is no number",
        "age = 0x               | 7  | is no number",
        "age = 1.2.3            | 7  | is no number",
        "age = 9223372036854775808 | 7 | is no number",
        "age = 1e999            | 7  | is no number",
        "age # 1                | 5  | cannot stand here",
        "age = 1 --             | 11 | found the end",
        "age = 1 /* c */        | 10 | found \"*\"",
      })
  void saysWhereAndWhatWasExpected(String text, int column, String problem) {
    assertThatThrownBy(() -> Selector.parse(text))
        .isInstanceOf(InvalidSelectorException.class)
        .hasMessageContaining("column " + column + ":")
        .hasMessageContaining(problem)
        .extracting(e -> ((InvalidSelectorException) e).column())
        .isEqualTo(column);
  }

  @Test
  void depthAndLengthAreBounded() throws InvalidSelectorException {
    assertThat(matches("(".repeat(400) + "yes" + ")".repeat(400))).isTrue();
    assertThat(matches("NOT ".repeat(400) + "yes")).isTrue();
    assertThat(matches("age = 0" + " + 1".repeat(400))).isFalse();
    assertThat(matches("yes" + " AND yes".repeat(5_000))).isTrue();
    for (String deep :
        new String[] {
          "(".repeat(20_000) + "yes" + ")".repeat(20_000),
          "NOT ".repeat(10_000) + "yes",
          "age = " + "-".repeat(501) + "age",
          "age = 0" + " + 1".repeat(501),
          "age = " + "(".repeat(300) + "1" + "+1)".repeat(300),
          "(".repeat(300) + "yes" + " AND NOT no)".repeat(300),
        }) {
      assertThatThrownBy(() -> Selector.parse(deep)).hasMessageContaining("deeper than 500 levels");
    }
    assertThatThrownBy(() -> Selector.parse("a = '" + "x".repeat(65_536) + "'"))
        .hasMessageContaining("at most 65536 characters, this one has 65542");
    assertThatThrownBy(() -> Selector.parse("a LIKE '" + "x".repeat(1_025) + "'"))
        .hasMessageContaining("at most 1024 characters");
  }

  @Test
  void likeAndInLookAtCodePoints() throws InvalidSelectorException {
    assertThat(matches("wide IN ('x', 'a\uD83D\uDE00b\u00e9')")).isTrue();
    assertThat(matches("wide LIKE '_\uD83D\uDE00%'")).isTrue();
    assertThat(matches("wide LIKE '%\uD83D%'")).isFalse();
  }

  @Test
  void aCorrelationIdOfBytesIsTheirText() throws InvalidSelectorException {
    Map<String, @Nullable Object> values = values();
    values.put("JMSCorrelationID", new byte[] {'a', 'b'});
    ByteBuffer message = sample.encode(values);
    assertThat(SampleMessage.matches(Selector.parse("JMSCorrelationID = 'ab'"), message)).isTrue();
    values.put("JMSCorrelationID", new byte[] {(byte) 0xC3, 'b', (byte) 0xF0});
    message = sample.encode(values);
    assertThat(SampleMessage.matches(Selector.parse("JMSCorrelationID LIKE '___'"), message))
        .isFalse();
    assertThat(SampleMessage.matches(Selector.parse("JMSCorrelationID LIKE '%'"), message))
        .isTrue();
  }

  @Test
  void absentHeadersAreNullButForTheTimestamp() throws InvalidSelectorException {
    ByteBuffer message = sample.encode(new LinkedHashMap<>());
    String text =
        "JMSMessageID IS NULL AND JMSCorrelationID IS NULL AND JMSType IS NULL AND JMSTimestamp ="
            + " 0";
    assertThat(SampleMessage.matches(Selector.parse(text), message)).isTrue();
  }

  @Test
  void whatCannotBeDecodedDoesNotMatch() throws InvalidSelectorException {
    ByteBuffer message = sample.encode(values());
    Selector selector = Selector.parse("absent IS NULL");
    assertThat(SampleMessage.matches(selector, message)).isTrue();
    Selector.Evaluator evaluator = selector.evaluator();
    for (int bytes = 0; bytes < message.limit() - 8 - "body".length(); bytes++) {
      assertThat(evaluator.matches(message, 8, bytes, new Work())).isFalse();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "a=1 and b   | (a = 0x1) AND (b)   | true",
        "a = 1 AND b AND c | a = 1 AND (b AND c) | true",
        "a OR b OR c | (a OR b) OR c | true",
        "a IN ('x','y') | a in ( 'y' , 'x', 'x' ) | true",
        "a LIKE 'x%' | a LIKE 'x%%' ESCAPE '!' | true",
        "a LIKE '!%' ESCAPE '!' | a LIKE '$%' ESCAPE '$' | true",
        "a = +5 | a = 5 | true",
        "a = 1 | a = 1L | false",
        "a = 1 | A = 1 | false",
        "a = 'x' | a = 'X' | false",
        "a = 1 AND b | b AND a = 1 | false",
        "a IS NULL | a IS NOT NULL | false",
        "a LIKE '%' | a LIKE '!%' ESCAPE '!' | false",
      })
  void equalityIsThatOfTheTree(String one, String other, boolean equal)
      throws InvalidSelectorException {
    Selector first = Selector.parse(one);
    Selector second = Selector.parse(other);
    assertThat(first.equals(second)).isEqualTo(equal);
    if (equal) {
      assertThat(first).hasSameHashCodeAs(second);
    }
    assertThat(first.text()).isEqualTo(one);
  }

  @Test
  void findsEqualityOnIds() throws InvalidSelectorException {
    assertThat(Selector.parse("JMSCorrelationID = 'x'").idEquality())
        .isEqualTo(new IdEquality(IdHeader.CORRELATION_ID, "x", true));
    assertThat(Selector.parse("('x''y' = JMSMessageID)").idEquality())
        .isEqualTo(new IdEquality(IdHeader.MESSAGE_ID, "x'y", true));
    assertThat(Selector.parse("a > 1 AND (b AND JMSCorrelationID = 'x')").idEquality())
        .isEqualTo(new IdEquality(IdHeader.CORRELATION_ID, "x", false));
    for (String none :
        new String[] {
          "JMSCorrelationID <> 'x'",
          "NOT JMSCorrelationID = 'x'",
          "JMSCorrelationID = 'x' OR a",
          "JMSCorrelationID = 5",
          "JMSCorrelationID LIKE 'x'",
          "JMSType = 'x'",
          "JMSCorrelationID = JMSMessageID",
        }) {
      assertThat(Selector.parse(none).idEquality()).as(none).isNull();
    }
  }

  @Test
  void blankIsNone() {
    assertThat(Selector.normalise(null)).isNull();
    assertThat(Selector.normalise("")).isNull();
    assertThat(Selector.normalise(" \t ")).isNull();
    assertThat(Selector.normalise(" a ")).isEqualTo(" a ");
  }

  @Test
  void loneSurrogatesAreEncodedAsMessagesHoldThem() throws InvalidSelectorException {
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    values.put("a", "x\uD800y?");
    ByteBuffer message = sample.encode(values);
    assertThat(SampleMessage.matches(Selector.parse("a = 'x\uD800y?'"), message)).isTrue();
    assertThat(SampleMessage.matches(Selector.parse("a = 'x\uD801y?'"), message)).isFalse();
    assertThat(SampleMessage.matches(Selector.parse("a = 'x?y?'"), message)).isFalse();
    assertThat(MessageScan.encode("x\uD800y")).hasSize(5);
  }
}
