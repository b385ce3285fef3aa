// A plan as one line of JSON.

/** JSON would write null for a number that is not finite: the text `Infinity` says that nothing carries a what-if. */
export const planJson = (plan: object): string => `${JSON.stringify(plan, withoutInfinity)}\n`;

function withoutInfinity(_: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
