// Writes the numbers of the map's files: of 7 bits a byte, low ones first. src/console/map/shapes.ts reads them.

export interface Varints {
  readonly bytes: number[];
  put(value: number): void;
  /** The zigzag steps of vertices, x and y in turn. @param last the vertex before, which moves on */
  putSteps(xy: readonly number[], last: [x: number, y: number]): void;
}

export function varints(): Varints {
  const bytes: number[] = [];
  const put = (value: number): void => {
    let left = value;
    for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
    bytes.push(left);
  };
  const putSteps = (xy: readonly number[], last: [x: number, y: number]): void => {
    xy.forEach((at, i) => {
      const step = at - last[i % 2]!;
      put(step < 0 ? -2 * step - 1 : 2 * step);
      last[i % 2] = at;
    });
  };
  return { bytes, put, putSteps };
}
