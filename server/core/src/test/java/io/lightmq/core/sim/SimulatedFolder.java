package io.lightmq.core.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;

/** The names of one folder: as they are, as forced, and the changes between, in order. */
final class SimulatedFolder {
  Map<String, SimulatedInode> current = new TreeMap<>();
  Map<String, SimulatedInode> forced = new TreeMap<>();
  private final List<Consumer<Map<String, SimulatedInode>>> unforced = new ArrayList<>();

  void change(Consumer<Map<String, SimulatedInode>> change) {
    change.accept(current);
    unforced.add(change);
  }

  void force() {
    forced = new TreeMap<>(current);
    unforced.clear();
  }

  /** The first so many unforced changes survive, as with a file system that logs them in order. */
  void crash(Random random) {
    int survivors = random.nextInt(unforced.size() + 1);
    Map<String, SimulatedInode> names = new TreeMap<>(forced);
    for (int i = 0; i < survivors; i++) {
      unforced.get(i).accept(names);
    }
    for (SimulatedInode inode : names.values()) {
      inode.crash(random);
    }
    current = names;
    force();
  }

  SimulatedFolder copy(Map<SimulatedInode, SimulatedInode> inodes) {
    SimulatedFolder copy = new SimulatedFolder();
    current.forEach(
        (name, inode) ->
            copy.current.put(name, inodes.computeIfAbsent(inode, SimulatedInode::copy)));
    copy.force();
    return copy;
  }
}
