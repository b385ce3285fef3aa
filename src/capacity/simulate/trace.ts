// A trace of arrivals: CSV whose column `time` has seconds or ISO 8601, and whose column `vehicle`, where there is one, says whose.

export interface Trace {
  /** Microseconds from the first arrival, ascending. */
  readonly arrivalsUs: Float64Array;
  /** Different vehicles; null without such a column. */
  readonly vehicles: number | null;
  /** Points of all messages: the column `points`, or one each. */
  readonly points: number;
}

/** @throws Error where a row cannot be read, with its number */
export function parseTrace(text: string): Trace {
  const [head = '', ...rows] = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  const names = head.split(',').map((name) => name.trim().toLowerCase());
  const [timeAt, vehicleAt, pointsAt] = ['time', 'vehicle', 'points'].map((name) => names.indexOf(name)) as [
    number,
    number,
    number,
  ];
  if (timeAt === -1) throw new Error('it has no column "time"');
  if (rows.length < 2) throw new Error('it has fewer than two rows');
  const vehicles = new Set<string>();
  let points = 0;
  const times = Float64Array.from(rows, (row, at) => {
    const cells = row.split(',');
    if (vehicleAt !== -1) vehicles.add(cells[vehicleAt] ?? '');
    const ofRow = pointsAt === -1 ? 1 : Number(cells[pointsAt]);
    const text = cells[timeAt]?.trim() ?? '';
    const timeS = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1000;
    if (!Number.isFinite(timeS)) throw new Error(`row ${at + 1}: "${text}" is no time`);
    if (!(ofRow > 0)) throw new Error(`row ${at + 1}: "${cells[pointsAt]}" is no number of points`);
    points += ofRow;
    return timeS;
  }).sort();
  const first = times[0]!;
  const arrivalsUs = times.map((timeS) => (timeS - first) * 1e6);
  if (arrivalsUs.at(-1) === 0) throw new Error('all its rows have the same time');
  return { arrivalsUs, vehicles: vehicleAt === -1 ? null : vehicles.size, points };
}

/** The most arrivals in one second of the trace that begins at a whole second of it. */
export function peakPerS({ arrivalsUs }: Trace): number {
  let [most, count, second] = [0, 0, 0];
  for (const us of arrivalsUs) {
    const at = Math.floor(us / 1e6);
    if (at !== second) [second, count] = [at, 0];
    if (++count > most) most = count;
  }
  return most;
}
