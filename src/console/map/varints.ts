// The numbers of the map's files: of 7 bits a byte, low ones first; steps are zigzag.

export interface Varints {
  next(): number;
  /** A number that may be negative. */
  step(): number;
}

export function varintsOf(bytes: Uint8Array): Varints {
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] as number;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
  const step = (): number => {
    const value = next();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  };
  return { next, step };
}
