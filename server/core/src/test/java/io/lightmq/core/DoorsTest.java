package io.lightmq.core;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaFieldAccess.AccessType;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.runtime.OwnedBy;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The doors of what belongs to the shard ask their {@link Guard}. A door is a method of an owned
 * type that another package calls and that changes something. What only looks is free: tests look
 * at a resting broker. A type is left out here if it is reached through a door, with the reason.
 */
@AnalyzeClasses(packages = "io.lightmq.core", importOptions = ImportOption.DoNotIncludeTests.class)
class DoorsTest {
  private static final String FILES = "the member's, older than every state";
  private static final String VALUE = "a value that Sessions, Landing, Delays or Mover hand out";
  private static final String LOOK = "changes nothing";
  private static final String WITHIN = "called by the doors of ";

  private static final Map<String, String> LEFT_OUT =
      Map.ofEntries(
          Map.entry("storage", FILES),
          Map.entry("state.TurnTime", FILES),
          Map.entry("state.Counters", "numbers, which are counted by doors that check"),
          Map.entry("state.BatchBuilder", WITHIN + "Recorder and Appending"),
          Map.entry("state.StateSnapshot", WITHIN + "Checkpoints and Replica"),
          Map.entry("state.Runs", WITHIN + "Placing"),
          Map.entry("sessions.PeerSession", VALUE),
          Map.entry("sessions.Sender", VALUE),
          Map.entry("sessions.MissingQueue", VALUE),
          Map.entry("sessions.WaitingCommit", VALUE),
          Map.entry("intake.Plan", VALUE),
          Map.entry("intake.Parcel", VALUE),
          Map.entry("intake.DueHour", VALUE),
          Map.entry("intake.HourRoom", WITHIN + "Landing and Delays"),
          Map.entry("intake.Selecting", WITHIN + "Placing and Unrecorded"),
          Map.entry("intake.Matchings", WITHIN + "Intake and Mover"),
          Map.entry("intake.EarlyCommits", WITHIN + "Intake"),
          Map.entry("moves.Move", VALUE),
          Map.entry("delivery.Browsers", "reached through Dispatcher.browsers, which checks"),
          Map.entry("admin.Administration", WITHIN + "Commands, and only hands verbs on"),
          Map.entry("intake.DueHeap", VALUE),
          Map.entry("shard.KeptBack.execute", "for any thread"),
          Map.entry("shard.Later", "hands on to DeliveryDecisions and Appending, which check"),
          Map.entry("checkpoint.Checkpoints.startedFrom", WITHIN + "Replica, while it is made"),
          Map.entry("checkpoint.Checkpoints.led", WITHIN + "Owner"),
          Map.entry("checkpoint.Checkpoints.stateChanges", WITHIN + "Replica"),
          Map.entry("checkpoint.Checkpoints.segments", LOOK),
          Map.entry("delivery.Consumer.oldest", LOOK),
          Map.entry("delivery.Dispatcher.consumers", LOOK),
          Map.entry("delivery.Dispatcher.nextExpiryNanos", LOOK),
          Map.entry("delivery.Dispatcher.endTurn", WITHIN + "TurnOrder"),
          Map.entry("delivery.Dispatcher.expireParked", WITHIN + "TurnTimers"),
          Map.entry("delivery.Dispatcher.goOn", WITHIN + "GivingOut"),
          Map.entry("destination.Destinations.after", LOOK),
          Map.entry("destination.LaneCheckpoint", WITHIN + "StateSnapshot, also behind its state"),
          Map.entry("destination.DurableLane.entry", WITHIN + "ShardState.apply, behind append"),
          Map.entry("destination.DurableLane.locate", LOOK),
          Map.entry("destination.Subscription.nextReadable", LOOK),
          Map.entry("destination.Subscription.readableRun", LOOK),
          Map.entry("destination.UnloggedLane.copyTo", LOOK),
          Map.entry("destination.UnloggedLane.place", LOOK),
          Map.entry("destination.View.learns", LOOK),
          Map.entry("destination.View.nextUnsifted", LOOK),
          Map.entry("destination.View.unsiftedRun", LOOK),
          Map.entry("moves.Delays.byTime", LOOK),
          Map.entry("moves.Delays.nextMillis", LOOK),
          Map.entry("moves.Delays.waiting", LOOK),
          Map.entry("moves.Mover.failing", LOOK),
          Map.entry("moves.Mover.nextNanos", LOOK),
          Map.entry("moves.Mover.size", LOOK),
          Map.entry("sessions.Subscribing.settingsFor", LOOK),
          Map.entry("sessions.Withheld.nextNanos", LOOK),
          Map.entry("state.ClientIdOwners.ownerless", LOOK),
          Map.entry("delivery.Lease", WITHIN + "Dispatcher and GivingOut"));

  @ArchTest
  static final ArchRule doorsCheckTheirThread =
      classes().that().areAnnotatedWith(OwnedBy.class).should(askTheirGuard());

  private static ArchCondition<JavaClass> askTheirGuard() {
    return new ArchCondition<>("ask their guard at each door") {
      @Override
      public void check(JavaClass owned, ConditionEvents events) {
        if (leftOut(owned).isPresent()) {
          return;
        }
        for (JavaMethod method : owned.getMethods()) {
          if (!LEFT_OUT.containsKey(name(owned) + "." + method.getName())
              && isDoor(method)
              && !asks(method, new HashSet<>())
              && !looks(method, new HashSet<>())) {
            events.add(
                SimpleConditionEvent.violated(
                    method,
                    method.getFullName()
                        + " is called by another package, changes something and does not call"
                        + " Guard.check"));
          }
        }
      }
    };
  }

  private static Optional<String> leftOut(JavaClass owned) {
    return Optional.ofNullable(LEFT_OUT.getOrDefault(room(owned), LEFT_OUT.get(name(owned))));
  }

  /** The room of a type, such as {@code state}. */
  private static String room(JavaClass owned) {
    String name = owned.getFullName().substring("io.lightmq.core.".length());
    return name.substring(0, name.indexOf('.'));
  }

  /** A type as the list names it, such as {@code state.Runs}. */
  private static String name(JavaClass owned) {
    return room(owned) + "." + owned.getSimpleName();
  }

  private static boolean isDoor(JavaMethod method) {
    if (method.getModifiers().contains(JavaModifier.PRIVATE)
        || method.getModifiers().contains(JavaModifier.STATIC)
        || method.getModifiers().contains(JavaModifier.ABSTRACT)
        || method.getModifiers().contains(JavaModifier.SYNTHETIC)) {
      return false;
    }
    String room = method.getOwner().getPackageName();
    return isCalledFromBeyond(method, room)
        || method.getOwner().getAllRawInterfaces().stream()
            .flatMap(
                face ->
                    face
                        .tryGetMethod(
                            method.getName(),
                            method.getRawParameterTypes().stream()
                                .map(JavaClass::getName)
                                .toArray(String[]::new))
                        .stream())
            .anyMatch(declared -> isCalledFromBeyond(declared, room));
  }

  private static boolean isCalledFromBeyond(JavaMethod method, String room) {
    return method.getAccessesToSelf().stream()
        .anyMatch(access -> !access.getOriginOwner().getPackageName().equals(room));
  }

  /** Whether it asks, itself or by another method of its own type. */
  private static boolean asks(JavaMethod method, Set<JavaMethod> seen) {
    return seen.add(method)
        && method.getMethodCallsFromSelf().stream()
            .anyMatch(
                call ->
                    (call.getTargetOwner().isEquivalentTo(Guard.class)
                            && call.getName().equals("check"))
                        || (call.getTargetOwner().equals(method.getOwner())
                            && call.getTarget()
                                .resolveMember()
                                .filter(called -> asks(called, seen))
                                .isPresent()));
  }

  /** Fields that only say where to look first. */
  private static final Set<String> CACHES =
      Set.of("io.lightmq.core.destination.SequenceSet.lastRow");

  private static final Set<String> READS =
      Set.of(
          "asList",
          "binarySearch",
          "bitCount",
          "entrySet",
          "formatted",
          "getInt",
          "getLong",
          "getKey",
          "getValue",
          "hasNext",
          "iterator",
          "keySet",
          "length",
          "next",
          "numberOfLeadingZeros",
          "mapToLong",
          "numberOfTrailingZeros",
          "startsWith",
          "stream",
          "sum",
          "unmodifiableMap",
          "unmodifiableList",
          "get",
          "size",
          "isEmpty",
          "values",
          "containsKey",
          "contains",
          "getOrDefault",
          "unmodifiableCollection",
          "longValue",
          "intValue",
          "valueOf",
          "min",
          "max",
          "equals",
          "peek",
          "of",
          "copyOf");

  /** Whether it sets no field and calls only what looks. */
  private static boolean looks(JavaMethod method, Set<JavaMethod> seen) {
    return !seen.add(method)
        || (method.getFieldAccesses().stream()
                .allMatch(
                    access ->
                        access.getAccessType() == AccessType.GET
                            || CACHES.contains(access.getTarget().getFullName()))
            && !method.getModifiers().contains(JavaModifier.ABSTRACT)
            && method.getMethodCallsFromSelf().stream().allMatch(call -> looks(call, seen)));
  }

  private static boolean looks(JavaMethodCall call, Set<JavaMethod> seen) {
    return call.getTargetOwner().getPackageName().startsWith("java.")
        ? READS.contains(call.getName())
        : call.getTarget().resolveMember().filter(called -> looks(called, seen)).isPresent();
  }

  @ArchTest
  static void whatIsLeftOutIsThere(JavaClasses all) {
    Set<String> unknown = new TreeSet<>(LEFT_OUT.keySet());
    for (JavaClass each : all) {
      if (each.isAnnotatedWith(OwnedBy.class)) {
        unknown.remove(room(each));
        unknown.remove(name(each));
        each.getMethods().forEach(method -> unknown.remove(name(each) + "." + method.getName()));
      }
    }
    assertThat(unknown).isEmpty();
  }
}
