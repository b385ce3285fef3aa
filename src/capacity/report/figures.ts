// Numbers with units for people: three digits, no more than a measurement has.
import type { Interval } from '../model/scaling.js';

// Tables of plain text: columns as wide as their longest cell, two blanks between.
/** @param right columns aligned to the right, such as numbers */
export function columns(rows: readonly (readonly string[])[], right: readonly number[] = []): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, cell.length);
    });
  return rows
    .map((row) =>
      row
        .map((cell, at) => (right.includes(at) ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `1,234`, `56.8`, `0.0123`; `∞` for what has no bound. */
export function plain(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '∞';
  if (value === 0) return '0';
  if (Math.abs(value) >= 999.5) {
    const digits = 10 ** Math.max(0, Math.floor(Math.log10(Math.abs(value))) - 2);
    return (Math.round(value / digits) * digits).toString().replace(/\B(?=(\d{3})+$)/g, ',');
  }
  return Number(value.toPrecision(3)).toString();
}

/** `1,234,567`: what is counted, and not measured. */
export const whole = (count: number): string => Math.round(count).toLocaleString('en');

/** `850 µs`, `12.3 ms`, `1.5 s`. */
export function time(us: number): string {
  if (us < 1000) return `${plain(us)} µs`;
  return us < 1e6 ? `${plain(us / 1000)} ms` : `${plain(us / 1e6)} s`;
}

/** A time with two digits: latencies of a plan have no more. */
export function roughTime(us: number): string {
  return Number.isFinite(us) ? time(Number(us.toPrecision(2))) : 'growing';
}

/** `850 B`, `12.3 MB`, `1.5 GB`; decimal. */
export function bytes(count: number): string {
  if (count < 1000) return `${plain(count)} B`;
  if (count < 1e6) return `${plain(count / 1e3)} kB`;
  return count < 1e9 ? `${plain(count / 1e6)} MB` : `${plain(count / 1e9)} GB`;
}

/** `12 %`. */
export const percent = (share: number): string => `${plain(100 * share)} %`;

/** `1-2 ms`, `800 µs to 2 ms`; one figure where both ends read the same. */
export function range({ low, high }: Interval, text: (value: number) => string): string {
  const [from, to] = [text(low), text(high)];
  if (from === to) return from;
  const [fromUnit, toUnit] = [from, to].map((each) => each.split(' ')[1] ?? '');
  return fromUnit === toUnit ? `${from.split(' ')[0]}-${to}` : `${from} to ${to}`;
}
