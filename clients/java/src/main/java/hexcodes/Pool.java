package hexcodes;

import com.dylibso.chicory.runtime.ChicoryInterruptedException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Instances of the kernel, each of which serves one call at a time: at most one for each processor, made when calls
 * overlap. More calls than instances wait.
 */
final class Pool {
  /** An instance and its entry. */
  private record Held(Kernel kernel, int entry) {}

  private static final Object UNMADE = new Object();
  private static final Object CLOSED = new Object();
  /** References between two entries, so that no two share a cache line. */
  private static final int STRIDE = 32;

  private final Supplier<Kernel> maker;
  private final int size = Runtime.getRuntime().availableProcessors();
  /** Each an idle instance, UNMADE or CLOSED; null while a call has the instance. */
  private final AtomicReferenceArray<Object> entries = new AtomicReferenceArray<>(size * STRIDE);

  private final Object lock = new Object();
  /** Threads that wait for an entry; written under the lock. */
  private volatile int waiting;

  Pool(Supplier<Kernel> maker) {
    this.maker = maker;
    for (int n = 0; n < size; n++) entries.set(n * STRIDE, UNMADE);
    // The first one is made now: it checks the files.
    use(Function.identity());
  }

  /**
   * The answer of a call. An interrupt neither ends it nor is lost: the kernel's machine throws when it meets one, so
   * the call is made again, by another instance, and the thread is interrupted when it is done.
   */
  <T> T use(Function<Kernel, T> call) {
    boolean wasInterrupted = Thread.currentThread().isInterrupted() && Thread.interrupted();
    try {
      for (;;) {
        try {
          return useOnce(call);
        } catch (ChicoryInterruptedException interrupt) {
          wasInterrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (wasInterrupted) Thread.currentThread().interrupt();
    }
  }

  private <T> T useOnce(Function<Kernel, T> call) {
    Held held = take();
    Object after = UNMADE;
    try {
      T answer = call.apply(held.kernel);
      after = held;
      return answer;
    } finally {
      put(held.entry, after);
    }
  }

  /** Waits for the calls under way; later ones throw. */
  void close() {
    boolean wasInterrupted = false;
    for (int n = 0; n < size; n++) {
      synchronized (lock) {
        waiting++;
        while (!close(n * STRIDE)) wasInterrupted |= isInterruptedInWait();
        waiting--;
      }
    }
    if (wasInterrupted) Thread.currentThread().interrupt();
  }

  /** How many instances are idle. */
  int idle() {
    int found = 0;
    for (int n = 0; n < size; n++) if (entries.get(n * STRIDE) instanceof Held) found++;
    return found;
  }

  private boolean close(int entry) {
    Object found = entries.get(entry);
    boolean isClosed = found != null && entries.compareAndSet(entry, found, CLOSED);
    if (isClosed) lock.notifyAll();
    return isClosed;
  }

  private Held take() {
    int entry = (int) (Thread.currentThread().getId() % size) * STRIDE;
    Object found = entries.get(entry);
    if (found instanceof Held held && entries.compareAndSet(entry, found, null)) return held;
    Held held = search();
    if (held != null) return held;
    boolean wasInterrupted = false;
    synchronized (lock) {
      waiting++;
      while ((held = search()) == null) wasInterrupted |= isInterruptedInWait();
      waiting--;
    }
    if (wasInterrupted) Thread.currentThread().interrupt();
    return held;
  }

  /** An idle instance, else a new one; null where all are at work. */
  private Held search() {
    for (int n = 0; n < size; n++) {
      Object found = entries.get(n * STRIDE);
      if (found == CLOSED) throw new IllegalStateException("hexcodes: a call after close()");
      if (found instanceof Held held && entries.compareAndSet(n * STRIDE, found, null)) return held;
    }
    for (int n = 0; n < size; n++) {
      int entry = n * STRIDE;
      if (!entries.compareAndSet(entry, UNMADE, null)) continue;
      Held made = null;
      try {
        made = new Held(maker.get(), entry);
        return made;
      } finally {
        if (made == null) put(entry, UNMADE);
      }
    }
    return null;
  }

  private void put(int entry, Object value) {
    entries.set(entry, value);
    if (waiting > 0) {
      synchronized (lock) {
        lock.notifyAll();
      }
    }
  }

  private boolean isInterruptedInWait() {
    try {
      lock.wait();
      return false;
    } catch (InterruptedException interrupt) {
      return true;
    }
  }
}
