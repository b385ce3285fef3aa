// Reads the land line: data/land.bin, which data/map/land-line.ts draws.

/** A closed ring of GeoJSON. */
export type Ring = [lng: number, lat: number][];

const STEPS_PER_DEGREE = 10_000;

/** The outlines of all land, each as a closed ring. */
export function readLand(bytes: Uint8Array): Ring[] {
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
  return Array.from({ length: next() }, () => {
    let [x, y] = [0, 0];
    const ring = Array.from({ length: next() }, (): [number, number] => {
      x += step();
      y += step();
      return [x / STEPS_PER_DEGREE, y / STEPS_PER_DEGREE];
    });
    ring.push([...(ring[0] as [number, number])]);
    return ring;
  });
}
