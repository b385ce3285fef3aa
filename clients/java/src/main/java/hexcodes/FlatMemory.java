package hexcodes;

import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.wasm.types.ActiveDataSegment;
import com.dylibso.chicory.wasm.types.DataSegment;
import com.dylibso.chicory.wasm.types.MemoryLimits;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A memory in one array: Chicory's own have pages of 64 KiB, which costs each load and store a second look-up. It has
 * what a module of one memory, one thread and active data needs. An address outside throws IndexOutOfBoundsException.
 */
@SuppressWarnings({"deprecation", "removal"}) // calls of threads, which it refuses
final class FlatMemory implements Memory {
  private static final VarHandle SHORTS = view(short[].class);
  private static final VarHandle INTS = view(int[].class);
  private static final VarHandle LONGS = view(long[].class);
  private static final VarHandle FLOATS = view(float[].class);
  private static final VarHandle DOUBLES = view(double[].class);

  private final MemoryLimits limits;
  private byte[] bytes;

  FlatMemory(MemoryLimits limits) {
    this.limits = limits;
    bytes = new byte[limits.initialPages() * PAGE_SIZE];
  }

  private static VarHandle view(Class<?> array) {
    return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public int pages() {
    return bytes.length / PAGE_SIZE;
  }

  @Override
  public int grow(int pages) {
    int before = pages();
    if (pages < 0 || (long) before + pages > Math.min(limits.maximumPages(), Integer.MAX_VALUE / PAGE_SIZE)) return -1;
    bytes = Arrays.copyOf(bytes, (before + pages) * PAGE_SIZE);
    return before;
  }

  @Override
  public int initialPages() {
    return limits.initialPages();
  }

  @Override
  public int maximumPages() {
    return limits.maximumPages();
  }

  @Override
  public void initialize(Instance instance, DataSegment[] segments) {
    if (segments == null) return;
    for (DataSegment segment : segments) {
      var offset = ((ActiveDataSegment) segment).offsetInstructions().get(0);
      write((int) offset.operand(0), segment.data());
    }
  }

  @Override
  public void write(int address, byte[] data, int offset, int size) {
    System.arraycopy(data, offset, bytes, address, size);
  }

  @Override
  public byte[] readBytes(int address, int size) {
    return Arrays.copyOfRange(bytes, address, address + size);
  }

  /** Copies bytes out without an array of their own. */
  void read(int address, byte[] data, int offset, int size) {
    System.arraycopy(bytes, address, data, offset, size);
  }

  @Override
  public byte read(int address) {
    return bytes[address];
  }

  @Override
  public void writeByte(int address, byte value) {
    bytes[address] = value;
  }

  @Override
  public short readShort(int address) {
    return (short) SHORTS.get(bytes, address);
  }

  @Override
  public long readU16(int address) {
    return (short) SHORTS.get(bytes, address) & 0xffff;
  }

  @Override
  public void writeShort(int address, short value) {
    SHORTS.set(bytes, address, value);
  }

  @Override
  public int readInt(int address) {
    return (int) INTS.get(bytes, address);
  }

  @Override
  public void writeI32(int address, int value) {
    INTS.set(bytes, address, value);
  }

  @Override
  public long readLong(int address) {
    return (long) LONGS.get(bytes, address);
  }

  @Override
  public void writeLong(int address, long value) {
    LONGS.set(bytes, address, value);
  }

  @Override
  public float readFloat(int address) {
    return (float) FLOATS.get(bytes, address);
  }

  @Override
  public long readF32(int address) {
    return readInt(address);
  }

  @Override
  public void writeF32(int address, float value) {
    FLOATS.set(bytes, address, value);
  }

  @Override
  public double readDouble(int address) {
    return (double) DOUBLES.get(bytes, address);
  }

  @Override
  public long readF64(int address) {
    return readLong(address);
  }

  @Override
  public void writeF64(int address, double value) {
    DOUBLES.set(bytes, address, value);
  }

  @Override
  public void fill(byte value, int from, int to) {
    Arrays.fill(bytes, from, to, value);
  }

  @Override
  public void copy(int to, int from, int size) {
    System.arraycopy(bytes, from, bytes, to, size);
  }

  @Override
  public void zero() {
    Arrays.fill(bytes, (byte) 0);
  }

  @Override
  public void drop(int segment) {}

  @Override
  public boolean shared() {
    return false;
  }

  @Override
  public Object lock(int address) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int waitOn(int address, int expected, long timeout) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int waitOn(int address, long expected, long timeout) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int notify(int address, int count) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void initPassiveSegment(int segment, int to, int offset, int size) {
    throw new UnsupportedOperationException();
  }
}
