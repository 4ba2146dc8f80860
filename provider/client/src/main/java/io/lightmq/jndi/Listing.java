package io.lightmq.jndi;

import java.util.Iterator;
import java.util.List;
import javax.naming.NamingEnumeration;

/** A list as the enumeration that naming asks for. */
final class Listing<T> implements NamingEnumeration<T> {
  private final Iterator<T> items;

  Listing(List<T> items) {
    this.items = List.copyOf(items).iterator();
  }

  @Override
  public boolean hasMore() {
    return items.hasNext();
  }

  @Override
  public boolean hasMoreElements() {
    return items.hasNext();
  }

  @Override
  public T next() {
    return items.next();
  }

  @Override
  public T nextElement() {
    return items.next();
  }

  /** Holds nothing that would have to be closed. */
  @Override
  public void close() {}
}
