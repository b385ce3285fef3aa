// Formulas of the fast path are written once: with T = v128 they work on two points at a time, with T = f64 on one, by
// the same operations in the same order, so that both builds give the same bits (docs/kernel-abi.md).

/**
 * A constant in each lane. It is given twice: a vector is loaded from memory, as V8 builds a literal by two
 * instructions at every use; one number is a literal, as a load of a host like Chicory checks its address.
 */
// @ts-ignore: decorator
@inline
export function all<T>(address: usize, value: f64): T {
  if (isVector<T>()) return v128.load64_splat(address);
  else return value;
}

// @ts-ignore: decorator
@inline
export function add<T>(a: T, b: T): T {
  if (isVector<T>()) return f64x2.add(a, b);
  else return a + b;
}

// @ts-ignore: decorator
@inline
export function sub<T>(a: T, b: T): T {
  if (isVector<T>()) return f64x2.sub(a, b);
  else return a - b;
}

// @ts-ignore: decorator
@inline
export function mul<T>(a: T, b: T): T {
  if (isVector<T>()) return f64x2.mul(a, b);
  else return a * b;
}

// @ts-ignore: decorator
@inline
export function div<T>(a: T, b: T): T {
  if (isVector<T>()) return f64x2.div(a, b);
  else return a / b;
}

// @ts-ignore: decorator
@inline
export function root<T>(a: T): T {
  if (isVector<T>()) return f64x2.sqrt(a);
  else return sqrt(a);
}
