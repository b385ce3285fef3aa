declare module 'which-polygon' {
  export default function whichPolygon<P>(collection: unknown): (lngLat: [number, number]) => P | null;
}
