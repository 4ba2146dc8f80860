package io.lightmq.node.connection;

import io.lightmq.core.door.Peer;
import java.util.Map;

/** Carries out the admin verbs that are about the node and its users, not about destinations. */
public interface NodeVerbs {
  /** Whether a verb is one of these. */
  boolean has(String verb);

  /** Carries one out and answers its peer, soon. Any thread; never blocks. */
  void execute(Peer peer, int correlation, String verb, Map<String, String> arguments);
}
