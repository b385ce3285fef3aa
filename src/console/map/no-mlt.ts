// Stands for the reader of MLT tiles in the library of the map: the page reads MVT, which all that is documented makes.

export const GEOMETRY_TYPE = {};

export function decodeTile(): never {
  throw new Error('Tiles in MLT are not read; the style has to offer MVT');
}
