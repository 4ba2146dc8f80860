package io.lightmq.core.transaction;

import java.util.Map;
import java.util.TreeMap;

/** All that records make of the links, as texts; link epochs of connections are in no record. */
public final class LinkPicture {
  /** What of it is said of a link's numbers: those of records, and those that the process knows. */
  public record Numbers(long recorded, long last) {
    /** Whether a state that has only the records, or a snapshot of this one, may have another. */
    public boolean allows(Numbers replayed) {
      return replayed.last >= recorded && replayed.last <= last;
    }
  }

  private LinkPicture() {}

  public static Map<String, String> of(Links links) {
    Map<String, String> texts = new TreeMap<>();
    for (Link link : links.all()) {
      texts.put(
          "link " + link.id(),
          "of %s, since %d, newest epoch %d, outcomes %s"
              .formatted(link.owner(), link.since(), link.newestEpoch(), link.outcomes()));
    }
    links.owners().forEach((owner, count) -> texts.put("links of " + owner, "" + count));
    texts.put("links take", "" + links.heapBytes());
    return texts;
  }

  public static Map<String, Numbers> numbers(Links links) {
    Map<String, Numbers> numbers = new TreeMap<>();
    for (Link link : links.all()) {
      numbers.put("numbers of link " + link.id(), new Numbers(link.recorded(), link.last()));
    }
    return numbers;
  }
}
