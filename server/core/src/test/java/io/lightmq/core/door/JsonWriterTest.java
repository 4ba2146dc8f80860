package io.lightmq.core.door;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JsonWriterTest {
  @Test
  void objectsArraysAndEscapesAreValidJson() {
    String json =
        new JsonWriter()
            .beginObject()
            .text("na\"me", "line\nbreak \\ \u0001 é \ud800")
            .number("n", -5)
            .name("list")
            .beginArray()
            .beginObject()
            .flag("yes", true)
            .endObject()
            .beginObject()
            .endObject()
            .endArray()
            .endObject()
            .toString();
    assertThat(json)
        .isEqualTo(
            "{\"na\\\"me\":\"line\\u000abreak \\\\ \\u0001 é \\ud800\",\"n\":-5,"
                + "\"list\":[{\"yes\":true},{}]}");
  }
}
