package io.lightmq.tck.faults;

/**
 * The identity of a test message.
 *
 * @param stream which producer sent it
 * @param number its place in that producer's order, from 1
 */
record Stamp(int stream, int number) {

  @Override
  public String toString() {
    return stream + "/" + number;
  }
}
