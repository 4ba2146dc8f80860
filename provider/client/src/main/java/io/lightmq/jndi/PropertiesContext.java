package io.lightmq.jndi;

import io.lightmq.client.LightmqQueue;
import io.lightmq.client.LightmqTopic;
import io.lightmq.client.NearNames;
import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.naming.Binding;
import javax.naming.CompositeName;
import javax.naming.Context;
import javax.naming.InvalidNameException;
import javax.naming.Name;
import javax.naming.NameClassPair;
import javax.naming.NameNotFoundException;
import javax.naming.NameParser;
import javax.naming.NamingEnumeration;
import javax.naming.NamingException;
import javax.naming.NotContextException;
import javax.naming.OperationNotSupportedException;
import org.jspecify.annotations.Nullable;

/** A read-only context over a fixed map; slashes in the bound names make subcontexts. */
@SuppressWarnings("BanJNDI") // it is a provider: it only looks into its own map of our own objects
final class PropertiesContext implements Context {
  private static final String DYNAMIC_QUEUES = "dynamicQueues";
  private static final String DYNAMIC_TOPICS = "dynamicTopics";

  private final Hashtable<Object, Object> environment;
  private final Map<String, Object> bindings;
  private final String prefix;

  PropertiesContext(Hashtable<?, ?> environment, Map<String, Object> bindings) {
    this(environment, bindings, "");
  }

  private PropertiesContext(
      Hashtable<?, ?> environment, Map<String, Object> bindings, String prefix) {
    this.environment = new Hashtable<>(environment);
    this.bindings = bindings;
    this.prefix = prefix;
  }

  // ---- looking up ----

  @Override
  public Object lookup(Name name) throws NamingException {
    return lookup(name.toString());
  }

  @Override
  public Object lookup(String name) throws NamingException {
    String path = path(name);
    if (path.isEmpty()) {
      return new PropertiesContext(environment, bindings, prefix);
    }
    Object bound = bindings.get(prefix + path);
    if (bound != null) {
      return bound;
    }
    Object dynamic = dynamic(prefix + path);
    if (dynamic != null) {
      return dynamic;
    }
    if (isContext(prefix + path)) {
      return new PropertiesContext(environment, bindings, prefix + path + "/");
    }
    throw notFound(path);
  }

  private static @Nullable Object dynamic(String path) throws InvalidNameException {
    int slash = path.indexOf('/');
    if (slash < 0 || slash + 1 == path.length()) {
      return null;
    }
    String name = path.substring(slash + 1);
    try {
      return switch (path.substring(0, slash)) {
        case DYNAMIC_QUEUES -> new LightmqQueue(name);
        case DYNAMIC_TOPICS -> new LightmqTopic(name);
        default -> null;
      };
    } catch (IllegalArgumentException e) {
      throw new InvalidNameException(path + ": " + e.getMessage());
    }
  }

  private boolean isContext(String path) {
    return path.equals(DYNAMIC_QUEUES)
        || path.equals(DYNAMIC_TOPICS)
        || bindings.keySet().stream().anyMatch(name -> name.startsWith(path + "/"));
  }

  private NameNotFoundException notFound(String path) {
    List<String> near = NearNames.of(prefix + path, bindings.keySet(), 3);
    return new NameNotFoundException(
        "'"
            + prefix
            + path
            + "' is not bound; "
            + (near.isEmpty()
                ? "bound are " + String.join(", ", bindings.keySet())
                : "did you mean " + String.join(", ", near) + "?")
            + " Set queue."
            + path
            + "=<queue>, or look up dynamicQueues/"
            + path);
  }

  /** A name without an URL scheme, empty parts or quotes. */
  private static String path(String name) throws NamingException {
    String plain = name.startsWith("java:comp/env/") ? name.substring(14) : name;
    CompositeName composite = new CompositeName(plain);
    List<String> parts = new ArrayList<>();
    for (int i = 0; i < composite.size(); i++) {
      if (!composite.get(i).isEmpty()) {
        parts.add(composite.get(i));
      }
    }
    return String.join("/", parts);
  }

  @Override
  public Object lookupLink(Name name) throws NamingException {
    return lookup(name);
  }

  @Override
  public Object lookupLink(String name) throws NamingException {
    return lookup(name);
  }

  // ---- listing ----

  private Map<String, Object> children(String name) throws NamingException {
    Object found = lookup(name);
    if (!(found instanceof PropertiesContext context)) {
      throw new NotContextException("'" + name + "' is bound to a " + found.getClass().getName());
    }
    Map<String, Object> children = new TreeMap<>();
    Set<String> subcontexts = new TreeSet<>();
    for (Map.Entry<String, Object> binding : bindings.entrySet()) {
      if (binding.getKey().startsWith(context.prefix)) {
        String rest = binding.getKey().substring(context.prefix.length());
        int slash = rest.indexOf('/');
        if (slash < 0) {
          children.put(rest, binding.getValue());
        } else {
          subcontexts.add(rest.substring(0, slash));
        }
      }
    }
    for (String child : subcontexts) {
      children.putIfAbsent(
          child, new PropertiesContext(environment, bindings, context.prefix + child + "/"));
    }
    return children;
  }

  @Override
  public NamingEnumeration<NameClassPair> list(Name name) throws NamingException {
    return list(name.toString());
  }

  @Override
  public NamingEnumeration<NameClassPair> list(String name) throws NamingException {
    List<NameClassPair> pairs = new ArrayList<>();
    children(name)
        .forEach((child, value) -> pairs.add(new NameClassPair(child, value.getClass().getName())));
    return new Listing<>(pairs);
  }

  @Override
  public NamingEnumeration<Binding> listBindings(Name name) throws NamingException {
    return listBindings(name.toString());
  }

  @Override
  public NamingEnumeration<Binding> listBindings(String name) throws NamingException {
    List<Binding> pairs = new ArrayList<>();
    children(name).forEach((child, value) -> pairs.add(new Binding(child, value)));
    return new Listing<>(pairs);
  }

  // ---- names and environment ----

  @Override
  public NameParser getNameParser(Name name) {
    return CompositeName::new;
  }

  @Override
  public NameParser getNameParser(String name) {
    return CompositeName::new;
  }

  @Override
  public Name composeName(Name name, Name parent) throws NamingException {
    return ((Name) parent.clone()).addAll(name);
  }

  @Override
  public String composeName(String name, String parent) throws NamingException {
    return composeName(new CompositeName(name), new CompositeName(parent)).toString();
  }

  @Override
  public @Nullable Object addToEnvironment(String name, Object value) {
    return environment.put(name, value);
  }

  @Override
  public @Nullable Object removeFromEnvironment(String name) {
    return environment.remove(name);
  }

  @Override
  public Hashtable<?, ?> getEnvironment() {
    return new Hashtable<>(environment);
  }

  @Override
  public String getNameInNamespace() {
    return prefix.isEmpty() ? "" : prefix.substring(0, prefix.length() - 1);
  }

  /** Holds nothing that would have to be closed. */
  @Override
  public void close() {}

  // ---- it is read-only ----

  private static OperationNotSupportedException readOnly() {
    return new OperationNotSupportedException(
        "the context is made of properties and cannot be changed; change jndi.properties");
  }

  @Override
  public void bind(Name name, Object object) throws NamingException {
    throw readOnly();
  }

  @Override
  public void bind(String name, Object object) throws NamingException {
    throw readOnly();
  }

  @Override
  public void rebind(Name name, Object object) throws NamingException {
    throw readOnly();
  }

  @Override
  public void rebind(String name, Object object) throws NamingException {
    throw readOnly();
  }

  @Override
  public void unbind(Name name) throws NamingException {
    throw readOnly();
  }

  @Override
  public void unbind(String name) throws NamingException {
    throw readOnly();
  }

  @Override
  public void rename(Name from, Name to) throws NamingException {
    throw readOnly();
  }

  @Override
  public void rename(String from, String to) throws NamingException {
    throw readOnly();
  }

  @Override
  public void destroySubcontext(Name name) throws NamingException {
    throw readOnly();
  }

  @Override
  public void destroySubcontext(String name) throws NamingException {
    throw readOnly();
  }

  @Override
  public Context createSubcontext(Name name) throws NamingException {
    throw readOnly();
  }

  @Override
  public Context createSubcontext(String name) throws NamingException {
    throw readOnly();
  }
}
