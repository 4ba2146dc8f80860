package io.lightmq.wire.entry;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PrintableTest {
  @Test
  void plainTextOfAnyLanguageStaysAsItIs() {
    for (String text : new String[] {"", "orders", "Bestellungen für Žofie", "注文", "😀 \\ \" |"}) {
      assertThat(Printable.of(text)).isSameAs(text);
      assertThat(Printable.line(text)).isSameAs(text);
    }
  }

  @Test
  void whatCouldMoveATerminalOrForgeALineIsEscaped() {
    assertThat(Printable.of("a\nb\r\tc")).isEqualTo("a\\nb\\r\\tc");
    assertThat(Printable.of("\u001b]0;x\u0007")).isEqualTo("\\u001b]0;x\\u0007");
    assertThat(Printable.of("\u009b2J\u0085\u007f")).isEqualTo("\\u009b2J\\u0085\\u007f");
    assertThat(Printable.of("x\u202Ey\u2066z\u200F\uFEFF\u2028\u2029"))
        .isEqualTo("x\\u202ey\\u2066z\\u200f\\ufeff\\u2028\\u2029");
    assertThat(Printable.of("\uD83D and \uDE00")).isEqualTo("\\ud83d and \\ude00");
    assertThat(Printable.of("\uDB40\uDC41")).isEqualTo("\\udb40\\udc41");
  }

  @Test
  void aLongPieceIsCutAndCounted() {
    assertThat(Printable.of("x".repeat(200))).isEqualTo("x".repeat(200));
    assertThat(Printable.of("x".repeat(16_340)))
        .isEqualTo("x".repeat(200) + "... (16340 characters)");
    String escapes = Printable.of("\u001b".repeat(200));
    assertThat(escapes).endsWith("\\u001b... (200 characters)").hasSizeLessThan(225);
  }

  @Test
  void aPairOfHalvesIsNeverCutApart() {
    String shown = Printable.of("x" + "😀".repeat(150));
    assertThat(shown).isEqualTo("x" + "😀".repeat(99) + "... (301 characters)");
  }

  @Test
  void aWholeTextNeverPassesItsBoundAndIsShownAgainUnchanged() {
    for (String text : new String[] {"y".repeat(5_000), "\n".repeat(900), "z\u0000".repeat(600)}) {
      String line = Printable.line(text);
      assertThat(line).hasSizeLessThanOrEqualTo(Printable.MAX_LINE_CHARS).endsWith(" characters)");
      assertThat(Printable.line(line)).isEqualTo(line);
      assertThat(Printable.isPlain(line)).isTrue();
    }
  }

  @Test
  void labelsStayDistinctHoweverLong() {
    assertThat(Printable.escaped("a".repeat(300) + "\u0000"))
        .isEqualTo("a".repeat(300) + "\\u0000");
  }
}
