package io.lightmq.jndi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import io.lightmq.client.LightmqQueue;
import io.lightmq.client.LightmqTopic;
import java.util.Collections;
import java.util.Hashtable;
import java.util.List;
import javax.naming.Binding;
import javax.naming.CompositeName;
import javax.naming.Context;
import javax.naming.ContextNotEmptyException;
import javax.naming.InvalidNameException;
import javax.naming.LimitExceededException;
import javax.naming.LinkLoopException;
import javax.naming.LinkRef;
import javax.naming.NameAlreadyBoundException;
import javax.naming.NameClassPair;
import javax.naming.NameNotFoundException;
import javax.naming.NamingEnumeration;
import javax.naming.NamingException;
import javax.naming.NotContextException;
import javax.naming.OperationNotSupportedException;
import javax.naming.Reference;
import org.junit.jupiter.api.Test;

/** The context itself, by the contract of {@link Context}. */
@SuppressWarnings("BanJNDI") // naming is what is tested
class MemoryContextTest {
  private static final LightmqQueue QUEUE = new LightmqQueue("q");

  private final Context context = new MemoryContext(new Hashtable<>(), Folder.root());

  @Test
  void whatIsBoundIsFoundListedReplacedAndRemoved() throws Exception {
    context.bind("x", QUEUE);
    assertThat(context.lookup("x")).isSameAs(QUEUE);
    assertThatThrownBy(() -> context.bind("x", QUEUE))
        .isInstanceOf(NameAlreadyBoundException.class);
    context.rebind(new CompositeName("x"), new LightmqTopic("t"));
    assertThat(context.lookup(new CompositeName("x"))).isEqualTo(new LightmqTopic("t"));
    context.unbind("x");
    assertThatThrownBy(() -> context.lookup("x")).isInstanceOf(NameNotFoundException.class);
    context.unbind("x");
    assertThatThrownBy(() -> context.unbind("no/x")).isInstanceOf(NameNotFoundException.class);
  }

  @Test
  void changesAreSeenInAllContextsOfTheSameInitialContextAndInNoOther() throws Exception {
    Context jms = context.createSubcontext("jms");
    Context same = (Context) context.lookup("jms");
    jms.bind("x", QUEUE);
    assertThat(same.lookup("x")).isSameAs(QUEUE);
    assertThat(context.lookup("jms/x")).isSameAs(QUEUE);
    assertThat(context.lookup("/jms//x/")).isSameAs(QUEUE);
    assertThatThrownBy(() -> new MemoryContext(new Hashtable<>(), Folder.root()).lookup("jms/x"))
        .isInstanceOf(NameNotFoundException.class);
  }

  @Test
  void subcontextsAreMadeNamedAndDestroyed() throws Exception {
    Context made = context.createSubcontext("a").createSubcontext("b");
    assertThat(made.getNameInNamespace()).isEqualTo("a/b");
    assertThatThrownBy(() -> context.createSubcontext("a"))
        .isInstanceOf(NameAlreadyBoundException.class);
    assertThatThrownBy(() -> context.createSubcontext("none/b"))
        .isInstanceOf(NameNotFoundException.class);
    assertThatThrownBy(() -> context.destroySubcontext("a"))
        .isInstanceOf(ContextNotEmptyException.class);
    assertThatThrownBy(() -> context.unbind("a"))
        .isInstanceOf(OperationNotSupportedException.class);
    context.destroySubcontext("a/b");
    context.destroySubcontext(new CompositeName("a"));
    context.destroySubcontext("a");
    assertThatThrownBy(() -> context.lookup("a")).isInstanceOf(NameNotFoundException.class);
    context.bind("leaf", QUEUE);
    assertThatThrownBy(() -> context.destroySubcontext("leaf"))
        .isInstanceOf(NotContextException.class);
    assertThatThrownBy(() -> context.bind("leaf/x", QUEUE)).isInstanceOf(NotContextException.class);
    assertThatThrownBy(() -> context.lookup("leaf/x")).isInstanceOf(NotContextException.class);
  }

  @Test
  void renamingMovesObjectsAndContexts() throws Exception {
    context.createSubcontext("a").bind("x", QUEUE);
    context.rename("a/x", "y");
    assertThat(context.lookup("y")).isSameAs(QUEUE);
    assertThatThrownBy(() -> context.rename("a/x", "z")).isInstanceOf(NameNotFoundException.class);
    assertThatThrownBy(() -> context.rename("y", "a"))
        .isInstanceOf(NameAlreadyBoundException.class);
    context.rename(new CompositeName("y"), new CompositeName("a/y"));
    context.rename("a", "b");
    assertThat(context.lookup("b/y")).isSameAs(QUEUE);
    assertThatThrownBy(() -> context.rename("b", "b/c"))
        .isInstanceOf(OperationNotSupportedException.class);
  }

  @Test
  void anUnknownNameSaysHowFarItGot() throws Exception {
    context.createSubcontext("a").bind("orders", QUEUE);
    NameNotFoundException failed = null;
    try {
      context.lookup("a/order/x");
    } catch (NameNotFoundException e) {
      failed = e;
    }
    assertThat(failed).isNotNull().hasMessageContaining("did you mean a/orders?");
    assertThat(failed.getResolvedName()).hasToString("a");
    assertThat(failed.getRemainingName()).hasToString("order/x");
  }

  @Test
  void theEmptyNameIsTheContextAndCannotBeBound() throws Exception {
    context.bind("x", QUEUE);
    assertThat(((Context) context.lookup("")).lookup("x")).isSameAs(QUEUE);
    assertThat(((Context) context.lookup(new CompositeName())).getNameInNamespace()).isEmpty();
    assertThatThrownBy(() -> context.bind("", QUEUE)).isInstanceOf(InvalidNameException.class);
    assertThatThrownBy(() -> context.rebind("", QUEUE)).isInstanceOf(InvalidNameException.class);
    assertThatThrownBy(() -> context.unbind("")).isInstanceOf(InvalidNameException.class);
    assertThatThrownBy(() -> context.rename("", "y")).isInstanceOf(InvalidNameException.class);
    assertThatThrownBy(() -> context.createSubcontext("")).isInstanceOf(InvalidNameException.class);
    assertThatThrownBy(() -> context.bind("y", null)).isInstanceOf(NamingException.class);
  }

  @Test
  void dynamicDestinationsAreMadeByLookingThemUpAndByNothingElse() throws Exception {
    Context queues = (Context) context.lookup("dynamicQueues");
    assertThat(queues.lookup("a/b")).isEqualTo(new LightmqQueue("a/b"));
    assertThat(queues.lookup("\"a//b\"")).isEqualTo(new LightmqQueue("a//b"));
    assertThat(queues.getNameInNamespace()).isEqualTo("dynamicQueues");
    assertThat(context.lookup("topics/t")).isEqualTo(new LightmqTopic("t"));
    assertThat(context.lookup("queues/q")).isEqualTo(QUEUE);
    assertThat(Collections.list(context.list("dynamicTopics"))).isEmpty();
    assertThatThrownBy(() -> context.bind("dynamicQueues/x", QUEUE))
        .isInstanceOf(OperationNotSupportedException.class);
    assertThatThrownBy(() -> context.destroySubcontext("dynamicQueues"))
        .isInstanceOf(OperationNotSupportedException.class);
    assertThatThrownBy(() -> context.rename("dynamicQueues", "x"))
        .isInstanceOf(OperationNotSupportedException.class);
    assertThatThrownBy(() -> context.lookup("dynamicQueues/" + "x".repeat(600)))
        .isInstanceOf(InvalidNameException.class);
    context.createSubcontext("queues").bind("q", new LightmqTopic("bound"));
    assertThat(context.lookup("queues/q")).isEqualTo(new LightmqTopic("bound"));
  }

  @Test
  void linksAreFollowedButNotWithoutEnd() throws Exception {
    context.createSubcontext("a").bind("x", QUEUE);
    context.bind("absolute", new LinkRef("a/x"));
    context.bind("a/relative", new LinkRef("./a/x"));
    context.bind("folder", new LinkRef("a"));
    assertThat(context.lookup("absolute")).isSameAs(QUEUE);
    assertThat(context.lookup("a/relative")).isSameAs(QUEUE);
    assertThat(context.lookup("folder/x")).isSameAs(QUEUE);
    assertThat(context.lookupLink("absolute")).isInstanceOf(LinkRef.class);
    assertThat(context.lookupLink(new CompositeName("folder/x"))).isSameAs(QUEUE);
    context.bind("one", new LinkRef("two"));
    context.bind("two", new LinkRef("one"));
    assertThatThrownBy(() -> context.lookup("one")).isInstanceOf(LinkLoopException.class);
  }

  @Test
  void onlyReferencesToOurTypesBecomeObjects() throws Exception {
    LightmqConnectionFactory factory = new LightmqConnectionFactory("lightmq://h:1?clientId=c");
    context.bind("factory", factory.getReference());
    assertThat(context.lookup("factory")).isEqualTo(factory);
    Reference foreign = new Reference("x.Y", "x.Evil", "http://127.0.0.1:1/");
    context.bind("foreign", foreign);
    assertThat(context.lookup("foreign")).isSameAs(foreign);
    assertThat(Collections.list(context.listBindings("")))
        .filteredOn(binding -> binding.getName().equals("factory"))
        .extracting(Binding::getObject)
        .containsExactly(factory);
  }

  @Test
  void namesOfApplicationServersMeanWhatIsBehindThem() throws Exception {
    context.createSubcontext("jms").bind("x", QUEUE);
    for (String name : List.of("java:comp/env/jms/x", "java:/jms/x", "java:jms/x")) {
      assertThat(context.lookup(name)).as(name).isSameAs(QUEUE);
      assertThat(context.lookup(new CompositeName(name))).as(name).isSameAs(QUEUE);
    }
  }

  @Test
  void aListingIsACopyWhoseNamesCanBeLookedUp() throws Exception {
    context.bind("\"a/b\"", QUEUE);
    context.createSubcontext("c");
    NamingEnumeration<NameClassPair> names = context.list(new CompositeName());
    context.unbind("\"a/b\"");
    assertThat(names.hasMore()).isTrue();
    NameClassPair first = names.next();
    assertThat(first.getName()).isEqualTo("\"a/b\"");
    assertThat(first.getClassName()).isEqualTo(LightmqQueue.class.getName());
    names.close();
    assertThat(Collections.list(context.listBindings(new CompositeName())))
        .filteredOn(binding -> binding.getName().equals("c"))
        .extracting(Binding::getObject)
        .hasOnlyElementsOfType(Context.class);
    assertThatThrownBy(() -> context.list("none")).isInstanceOf(NameNotFoundException.class);
  }

  @Test
  void theEnvironmentBelongsToOneContext() throws Exception {
    context.addToEnvironment("a", "b");
    Context other = (Context) context.lookup("");
    assertThat(other.getEnvironment().get("a")).isEqualTo("b");
    assertThat(other.removeFromEnvironment("a")).isEqualTo("b");
    assertThat(other.removeFromEnvironment("a")).isNull();
    assertThat(context.getEnvironment().get("a")).isEqualTo("b");
    context.getEnvironment().clear();
    assertThat(context.getEnvironment().get("a")).isEqualTo("b");
    context.close();
    context.close();
  }

  @Test
  void namesAreComposedAndParsed() throws Exception {
    assertThat(context.composeName("x", "a/b")).isEqualTo("a/b/x");
    assertThat(context.composeName("x", "")).isEqualTo("x");
    CompositeName prefix = new CompositeName("a");
    assertThat(context.composeName(new CompositeName("x"), prefix)).hasToString("a/x");
    assertThat(prefix).as("the prefix is not changed").hasToString("a");
    assertThat(context.getNameParser("")).isEqualTo(context.getNameParser(new CompositeName()));
    assertThat(context.getNameParser("").parse("a/b").get(1)).isEqualTo("b");
  }

  @Test
  void aFullContextRefusesOneMore() throws Exception {
    Folder root = Folder.root();
    for (int i = 0; i < Folder.MAX_ENTRIES; i++) {
      root.put("n" + i, QUEUE);
    }
    Context full = new MemoryContext(new Hashtable<>(), root);
    assertThatThrownBy(() -> full.bind("more", QUEUE))
        .isInstanceOf(LimitExceededException.class)
        .hasMessageContaining("100000");
    full.rebind("n1", new LightmqTopic("t"));
    full.unbind("n2");
    full.bind("more", QUEUE);
    assertThat(full.lookup("more")).isSameAs(QUEUE);
  }
}
