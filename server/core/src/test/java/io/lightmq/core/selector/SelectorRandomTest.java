package io.lightmq.core.selector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.jspecify.annotations.Nullable;

/** Selectors against {@link TreeOracle}: 5,000 expressions, each on 20 messages. */
class SelectorRandomTest {
  private final SampleMessage sample = new SampleMessage();

  @Property(tries = 5_000, shrinking = ShrinkingMode.OFF)
  void evaluatesLikeAnIndependentImplementation(@ForAll long seed) throws InvalidSelectorException {
    Random random = new Random(seed);
    RandomSelectors selectors = new RandomSelectors(random);
    TreeOracle.Condition tree = selectors.condition(1 + random.nextInt(4));
    String text = tree.print(new TreeOracle.Printer(random));
    Selector selector = Selector.parse(text);
    assertThat(Selector.parse(tree.print(new TreeOracle.Printer(random))))
        .as("another spelling of %s", text)
        .isEqualTo(selector)
        .hasSameHashCodeAs(selector);
    Selector.Evaluator evaluator = selector.evaluator();
    List<ByteBuffer> encoded = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Map<String, @Nullable Object> message = selectors.message();
      ByteBuffer bytes = sample.encode(message);
      encoded.add(bytes);
      if (evaluator.matches(bytes, 8, bytes.limit() - 8, new Work())
          != Boolean.TRUE.equals(tree.test(message))) {
        fail("seed %d: the tree says %s: %s on %s", seed, tree.test(message), text, message);
      }
    }
    // Nothing of one message stays in the evaluator for the next one.
    for (ByteBuffer bytes : encoded) {
      if (evaluator.matches(bytes, 8, bytes.limit() - 8, new Work())
          != SampleMessage.matches(selector, bytes)) {
        fail("seed %d: %s differs the second time", seed, text);
      }
    }
  }
}
