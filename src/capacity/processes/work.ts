// A piece of work that is always the same, and of the kind that the service does: text is parsed, objects are made,
// text is written. Neighbours on a core that is shared slow this to half, where plain arithmetic loses a fifth.
const TEXT = JSON.stringify(
  Array.from({ length: 100 }, (_, at) => ({
    lat: 21 + at / 1000,
    lng: 105.8 + at / 777,
    id: `vehicle-${at}`,
  })),
);
/** Before it is compiled it takes longer. */
const FIRST_PIECES = 300;
const LEAST_PIECES = 20;

let done = 0;

function work(): void {
  JSON.stringify(JSON.parse(TEXT));
  done++;
}

/** The median time of a piece on the core of this thread, in microseconds. @param ms how long to work */
export function measureWorkUs(ms: number): number {
  while (done < FIRST_PIECES) work();
  const times: number[] = [];
  for (const endMs = performance.now() + ms; performance.now() < endMs || times.length < LEAST_PIECES; ) {
    const fromMs = performance.now();
    work();
    times.push(performance.now() - fromMs);
  }
  return Math.round(1000 * times.sort((a, b) => a - b)[times.length >> 1]!);
}
