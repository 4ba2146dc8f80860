package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.admin.Administration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AdminVerbsTest {
  private BrokerHarness h;

  @BeforeEach
  void start() throws Exception {
    h = new BrokerHarness(1).open();
  }

  @AfterEach
  void stop() throws Exception {
    h.close();
  }

  @Test
  void aMistypedVerbIsRefusedWithTheNearest() {
    assertThat(h.admin("destination.lst", Map.of()))
        .contains("verb destination.lst is unknown; the nearest is destination.list");
    assertThat(h.admin("dead-letters.rety", Map.of()))
        .contains("the nearest is dead-letters.retry");
    assertThat(h.admin("deadletters.list", Map.of())).contains("the nearest is dead-letters.list");
  }

  @Test
  void aVerbThatIsLikeNoneIsRefusedWithAll() {
    assertThat(h.admin("stop", Map.of()))
        .contains("verb stop is unknown; known are destination.list, ")
        .contains("dead-letters.retry");
  }

  @Test
  void aMistypedArgumentIsRefusedWithTheNearest() {
    assertThat(h.admin("destination.show", Map.of("nmae", "a")))
        .contains("argument nmae is unknown; the nearest is name");
  }

  @Test
  void everyKnownVerbIsCarriedOut() {
    for (String verb : Administration.VERBS) {
      assertThat(h.admin(verb, Map.of())).doesNotContain("is unknown", "not carried out");
    }
  }
}
