package io.lightmq.client;

import java.util.Enumeration;
import java.util.Hashtable;
import javax.naming.Context;
import javax.naming.Name;
import javax.naming.NamingException;
import javax.naming.RefAddr;
import javax.naming.Reference;
import javax.naming.spi.ObjectFactory;
import org.jspecify.annotations.Nullable;

/** Makes factories, queues and topics again of what a naming service has stored. */
public final class LightmqObjectFactory implements ObjectFactory {
  static final String NAME = "name";
  static final String URI = "uri";

  /** For naming services. */
  public LightmqObjectFactory() {}

  @Override
  public @Nullable Object getObjectInstance(
      @Nullable Object object,
      @Nullable Name name,
      @Nullable Context context,
      @Nullable Hashtable<?, ?> environment)
      throws NamingException {
    if (!(object instanceof Reference reference)) {
      return null;
    }
    String type = reference.getClassName();
    if (type.equals(LightmqQueue.class.getName())) {
      return new LightmqQueue(required(reference, NAME));
    } else if (type.equals(LightmqTopic.class.getName())) {
      return new LightmqTopic(required(reference, NAME));
    } else if (type.equals(LightmqConnectionFactory.class.getName())) {
      return factory(reference);
    }
    return null;
  }

  private static LightmqConnectionFactory factory(Reference reference) throws NamingException {
    try {
      LightmqConnectionFactory factory = new LightmqConnectionFactory(required(reference, URI));
      Enumeration<RefAddr> addresses = reference.getAll();
      while (addresses.hasMoreElements()) {
        RefAddr address = addresses.nextElement();
        if (!address.getType().equals(URI)) {
          factory.setOption(address.getType(), String.valueOf(address.getContent()));
        }
      }
      return factory;
    } catch (IllegalArgumentException e) {
      NamingException failed = new NamingException(e.getMessage());
      failed.setRootCause(e);
      throw failed;
    }
  }

  private static String required(Reference reference, String type) throws NamingException {
    RefAddr address = reference.get(type);
    if (address == null || address.getContent() == null) {
      throw new NamingException(
          "the reference to a " + reference.getClassName() + " has no '" + type + "'");
    }
    return address.getContent().toString();
  }
}
