package io.lightmq.tck.faults;

/** Ways to a broker, one for each client, which break as networks do. */
interface Lines extends AutoCloseable {
  /** Where the client of a line connects to. */
  int port(int line);

  /** What goes in these directions does not arrive, and nobody is told. */
  void silence(int line, boolean toBroker, boolean toClient)
      throws HarnessException, InterruptedException;

  /** The connection of the line is reset. */
  void reset(int line) throws HarnessException, InterruptedException;

  /** Everything goes on; whether the fault has hit something. */
  boolean heal(int line) throws HarnessException, InterruptedException;

  /** What they are, for the log. */
  String kind();

  @Override
  void close() throws HarnessException, InterruptedException;
}
