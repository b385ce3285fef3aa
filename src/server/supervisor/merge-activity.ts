// The keys in use of several processes as one list: what /activity of the admin port answers, added
// up by key.

interface KeyActivity {
  readonly id: string;
  readonly requests: number;
  readonly points: number;
}

/** @param pages answers of `/activity`; what is none is left out */
export function mergeActivity(pages: readonly string[]): { keys: KeyActivity[] } {
  const sums = new Map<string, KeyActivity>();
  for (const key of pages.flatMap(keysOf)) {
    const sum = sums.get(key.id) ?? { id: key.id, requests: 0, points: 0 };
    sums.set(key.id, {
      id: key.id,
      requests: sum.requests + key.requests,
      points: sum.points + key.points,
    });
  }
  return { keys: [...sums.values()] };
}

function keysOf(page: string): readonly KeyActivity[] {
  try {
    return (JSON.parse(page) as { keys: readonly KeyActivity[] }).keys;
  } catch {
    return [];
  }
}
