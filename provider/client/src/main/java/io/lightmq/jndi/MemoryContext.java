package io.lightmq.jndi;

import io.lightmq.client.LightmqObjectFactory;
import io.lightmq.wire.entry.NearNames;
import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import javax.naming.Binding;
import javax.naming.CompositeName;
import javax.naming.Context;
import javax.naming.ContextNotEmptyException;
import javax.naming.InvalidNameException;
import javax.naming.LinkLoopException;
import javax.naming.LinkRef;
import javax.naming.Name;
import javax.naming.NameAlreadyBoundException;
import javax.naming.NameClassPair;
import javax.naming.NameNotFoundException;
import javax.naming.NameParser;
import javax.naming.NamingEnumeration;
import javax.naming.NamingException;
import javax.naming.NotContextException;
import javax.naming.OperationNotSupportedException;
import javax.naming.Reference;
import org.jspecify.annotations.Nullable;

/**
 * A naming context in memory. What is bound is seen by all contexts that come from the same initial
 * context, and gone with them: nothing is stored. Objects are kept as they are; a link is followed,
 * a reference becomes an object if it is to one of our three types and else stays a reference, so
 * looking a name up never loads a class that the name's owner chose. Safe for many threads.
 */
// A provider looks into its own map only, and JNDI asks for a Hashtable.
@SuppressWarnings({"BanJNDI", "JdkObsolete"})
final class MemoryContext implements Context {
  private static final NameParser PARSER = CompositeName::new;
  private static final LightmqObjectFactory OBJECTS = new LightmqObjectFactory();
  private static final int MAX_LINKS = 32;
  private static final int MAX_TOLD = 20;
  private static final int MAX_COMPARED = 1_000;

  private final Hashtable<Object, Object> environment;
  private final Folder root;
  private final Folder folder;
  private final List<String> path;

  MemoryContext(Hashtable<?, ?> environment, Folder root) {
    this(environment, root, root, List.of());
  }

  private MemoryContext(
      Hashtable<?, ?> environment, Folder root, Folder folder, List<String> path) {
    this.environment = new Hashtable<>(environment);
    this.root = root;
    this.folder = folder;
    this.path = path;
  }

  private MemoryContext context(Folder other, List<String> parts) {
    List<String> full = new ArrayList<>(path);
    full.addAll(parts);
    return new MemoryContext(environment, root, other, List.copyOf(full));
  }

  // ---- looking up ----

  @Override
  public Object lookup(Name name) throws NamingException {
    return lookup(Names.parts(name), true, MAX_LINKS);
  }

  @Override
  public Object lookup(String name) throws NamingException {
    return lookup(Names.parts(name), true, MAX_LINKS);
  }

  @Override
  public Object lookupLink(Name name) throws NamingException {
    return lookup(Names.parts(name), false, MAX_LINKS);
  }

  @Override
  public Object lookupLink(String name) throws NamingException {
    return lookup(Names.parts(name), false, MAX_LINKS);
  }

  private Object lookup(List<String> parts, boolean follow, int links) throws NamingException {
    Folder at = folder;
    for (int i = 0; i < parts.size(); i++) {
      List<String> rest = parts.subList(i + 1, parts.size());
      if (at.dynamic() != null) {
        return dynamic(at.dynamic(), parts.subList(i, parts.size()));
      }
      Object found = at.get(parts.get(i));
      if (found == null) {
        Folder.Dynamic kind = at == root ? Folder.unbound(parts.get(i)) : null;
        if (kind != null && !rest.isEmpty()) {
          return dynamic(kind, rest);
        }
        throw notFound(at, parts, i);
      }
      if (found instanceof Folder below) {
        at = below;
        continue;
      }
      Object object = follow || !rest.isEmpty() ? resolve(found, links) : found;
      if (rest.isEmpty()) {
        return object;
      } else if (object instanceof Context further) {
        return follow
            ? further.lookup(Names.composite(rest))
            : further.lookupLink(Names.composite(rest));
      }
      throw notContext(parts.subList(0, i + 1), object);
    }
    return context(at, parts);
  }

  private static Object dynamic(Folder.Dynamic kind, List<String> name) throws NamingException {
    try {
      return kind.destination(Names.text(name));
    } catch (IllegalArgumentException e) {
      throw new InvalidNameException(Names.text(name) + ": " + e.getMessage());
    }
  }

  private Object resolve(Object found, int links) throws NamingException {
    if (found instanceof LinkRef link) {
      if (links == 0) {
        throw new LinkLoopException("more than " + MAX_LINKS + " links lead to each other");
      }
      String target = link.getLinkName();
      return target.startsWith(".")
          ? lookup(Names.parts(target.substring(1)), true, links - 1)
          : new MemoryContext(environment, root).lookup(Names.parts(target), true, links - 1);
    } else if (found instanceof Reference reference) {
      Object object = OBJECTS.getObjectInstance(reference, null, this, environment);
      return object == null ? reference : object;
    }
    return found;
  }

  private NameNotFoundException notFound(Folder at, List<String> parts, int missing)
      throws NamingException {
    String name = Names.text(parts);
    String above = missing == 0 ? "" : Names.text(parts.subList(0, missing)) + "/";
    List<String> bound = at.copy().keySet().stream().map(each -> above + each).toList();
    List<String> known = new ArrayList<>();
    addNames("", folder, known);
    List<String> near = NearNames.of(name, known, 3);
    NameNotFoundException failed =
        new NameNotFoundException(
            "'"
                + name
                + "' is not bound; "
                + (near.isEmpty()
                    ? "bound are "
                        + String.join(", ", bound.subList(0, Math.min(MAX_TOLD, bound.size())))
                        + (bound.size() > MAX_TOLD ? " and " + (bound.size() - MAX_TOLD) : "")
                        + (bound.size() > MAX_TOLD ? " more." : ".")
                    : "did you mean " + String.join(", ", near) + "?")
                + " Set queue."
                + name
                + "=<queue>, or look up dynamicQueues/"
                + name);
    failed.setResolvedName(Names.composite(parts.subList(0, missing)));
    failed.setRemainingName(Names.composite(parts.subList(missing, parts.size())));
    return failed;
  }

  /** The names below a level, in full and of things, not of levels; the first thousand. */
  private static void addNames(String above, Folder at, List<String> names) {
    for (Map.Entry<String, Object> each : at.copy().entrySet()) {
      if (names.size() >= MAX_COMPARED) {
        return;
      }
      if (each.getValue() instanceof Folder below) {
        addNames(above + each.getKey() + "/", below, names);
      } else {
        names.add(above + each.getKey());
      }
    }
  }

  private static NotContextException notContext(List<String> parts, Object object) {
    return new NotContextException(
        "'" + Names.text(parts) + "' is bound to a " + object.getClass().getName());
  }

  // ---- listing ----

  @Override
  public NamingEnumeration<NameClassPair> list(Name name) throws NamingException {
    return list(name.toString());
  }

  @Override
  public NamingEnumeration<NameClassPair> list(String name) throws NamingException {
    Object found = lookup(name);
    if (!(found instanceof MemoryContext)) {
      return foreign(name, found).list("");
    }
    return listing(found, (child, value) -> new NameClassPair(child, value.getClass().getName()));
  }

  @Override
  public NamingEnumeration<Binding> listBindings(Name name) throws NamingException {
    return listBindings(name.toString());
  }

  @Override
  public NamingEnumeration<Binding> listBindings(String name) throws NamingException {
    Object found = lookup(name);
    if (!(found instanceof MemoryContext)) {
      return foreign(name, found).listBindings("");
    }
    return listing(found, Binding::new);
  }

  private static Context foreign(String name, Object found) throws NamingException {
    if (found instanceof Context context) {
      return context;
    }
    throw notContext(List.of(name), found);
  }

  private static <T> NamingEnumeration<T> listing(Object found, BiFunction<String, Object, T> item)
      throws NamingException {
    List<T> items = new ArrayList<>();
    MemoryContext context = (MemoryContext) found;
    for (Map.Entry<String, Object> entry : context.folder.copy().entrySet()) {
      List<String> name = List.of(entry.getKey());
      Object value =
          entry.getValue() instanceof Folder below
              ? context.context(below, name)
              : entry.getValue() instanceof LinkRef
                  ? entry.getValue()
                  : context.resolve(entry.getValue(), MAX_LINKS);
      items.add(item.apply(Names.composite(name).toString(), value));
    }
    return new Listing<>(items);
  }

  // ---- changing ----

  /** The level that holds or would hold the last part of a name. */
  private Folder holder(List<String> parts) throws NamingException {
    if (parts.isEmpty()) {
      throw new InvalidNameException("the name is empty: it is the context itself");
    }
    Folder at = folder;
    for (int i = 0; i < parts.size() - 1 && at.dynamic() == null; i++) {
      Object found = at.get(parts.get(i));
      if (found == null) {
        throw notFound(at, parts, i);
      } else if (!(found instanceof Folder below)) {
        throw notContext(parts.subList(0, i + 1), found);
      } else {
        at = below;
      }
    }
    if (at.dynamic() != null) {
      throw new OperationNotSupportedException(
          "'" + Names.text(parts) + "': destinations are there by being looked up");
    }
    return at;
  }

  private static String last(List<String> parts) {
    return parts.get(parts.size() - 1);
  }

  private static Object something(List<String> parts, @Nullable Object object)
      throws NamingException {
    if (object == null) {
      throw new NamingException("'" + Names.text(parts) + "' cannot be bound to null");
    }
    return object;
  }

  private static NameAlreadyBoundException taken(List<String> parts) {
    return new NameAlreadyBoundException("'" + Names.text(parts) + "' is bound already");
  }

  @Override
  public void bind(Name name, @Nullable Object object) throws NamingException {
    bind(Names.parts(name), object);
  }

  @Override
  public void bind(String name, @Nullable Object object) throws NamingException {
    bind(Names.parts(name), object);
  }

  private void bind(List<String> parts, @Nullable Object object) throws NamingException {
    if (!holder(parts).putIfFree(last(parts), something(parts, object))) {
      throw taken(parts);
    }
  }

  @Override
  public void rebind(Name name, @Nullable Object object) throws NamingException {
    rebind(Names.parts(name), object);
  }

  @Override
  public void rebind(String name, @Nullable Object object) throws NamingException {
    rebind(Names.parts(name), object);
  }

  private void rebind(List<String> parts, @Nullable Object object) throws NamingException {
    Folder holder = holder(parts);
    refuseContext(parts, holder.get(last(parts)));
    holder.put(last(parts), something(parts, object));
  }

  private static void refuseContext(List<String> parts, @Nullable Object bound)
      throws NamingException {
    if (bound instanceof Folder) {
      throw new OperationNotSupportedException(
          "'" + Names.text(parts) + "' is a context; remove it by destroySubcontext");
    }
  }

  @Override
  public void unbind(Name name) throws NamingException {
    unbind(Names.parts(name));
  }

  @Override
  public void unbind(String name) throws NamingException {
    unbind(Names.parts(name));
  }

  private void unbind(List<String> parts) throws NamingException {
    Folder holder = holder(parts);
    refuseContext(parts, holder.get(last(parts)));
    holder.remove(last(parts));
  }

  @Override
  public void rename(Name from, Name to) throws NamingException {
    rename(Names.parts(from), Names.parts(to));
  }

  @Override
  public void rename(String from, String to) throws NamingException {
    rename(Names.parts(from), Names.parts(to));
  }

  private void rename(List<String> from, List<String> to) throws NamingException {
    Folder source = holder(from);
    Folder target = holder(to);
    Object moved = source.get(last(from));
    if (moved == null) {
      throw notFound(source, from, from.size() - 1);
    } else if (moved instanceof Folder below
        && (below.dynamic() != null
            || (to.size() > from.size() && to.subList(0, from.size()).equals(from)))) {
      throw new OperationNotSupportedException(
          "the context '" + Names.text(from) + "' cannot become '" + Names.text(to) + "'");
    } else if (!source.move(last(from), target, last(to))) {
      throw taken(to);
    }
  }

  @Override
  public Context createSubcontext(Name name) throws NamingException {
    return createSubcontext(Names.parts(name));
  }

  @Override
  public Context createSubcontext(String name) throws NamingException {
    return createSubcontext(Names.parts(name));
  }

  private Context createSubcontext(List<String> parts) throws NamingException {
    Folder holder = holder(parts);
    if (holder.get(last(parts)) != null) {
      throw taken(parts);
    }
    Folder made = holder.folder(last(parts));
    if (made == null) {
      throw taken(parts);
    }
    return context(made, parts);
  }

  @Override
  public void destroySubcontext(Name name) throws NamingException {
    destroySubcontext(Names.parts(name));
  }

  @Override
  public void destroySubcontext(String name) throws NamingException {
    destroySubcontext(Names.parts(name));
  }

  private void destroySubcontext(List<String> parts) throws NamingException {
    Folder holder = holder(parts);
    Object found = holder.get(last(parts));
    if (found instanceof Folder below) {
      if (below.dynamic() != null) {
        throw new OperationNotSupportedException("'" + Names.text(parts) + "' is always there");
      } else if (!holder.removeEmpty(last(parts), below)) {
        throw new ContextNotEmptyException("'" + Names.text(parts) + "' is not empty");
      }
    } else if (found != null) {
      throw notContext(parts, found);
    }
  }

  // ---- names and environment ----

  @Override
  public NameParser getNameParser(Name name) throws NamingException {
    return parser(lookup(name), name.toString());
  }

  @Override
  public NameParser getNameParser(String name) throws NamingException {
    return parser(lookup(name), name);
  }

  private static NameParser parser(Object found, String name) throws NamingException {
    return found instanceof MemoryContext ? PARSER : foreign(name, found).getNameParser("");
  }

  @Override
  public Name composeName(Name name, Name prefix) throws NamingException {
    return ((Name) prefix.clone()).addAll(name);
  }

  @Override
  public String composeName(String name, String prefix) throws NamingException {
    return composeName(new CompositeName(name), new CompositeName(prefix)).toString();
  }

  @Override
  public @Nullable Object addToEnvironment(String name, Object value) {
    return environment.put(name, value);
  }

  @Override
  public @Nullable Object removeFromEnvironment(String name) {
    return environment.remove(name);
  }

  /** A copy, so that nobody changes it but by the two methods above. */
  @Override
  public Hashtable<?, ?> getEnvironment() {
    return new Hashtable<>(environment);
  }

  @Override
  public String getNameInNamespace() throws NamingException {
    return Names.composite(path).toString();
  }

  /** Holds nothing that would have to be closed; what was looked up stays usable. */
  @Override
  public void close() {}
}
