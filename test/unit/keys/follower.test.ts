// The changes that a follower reports, over a store of the test: every change once, a removal whenever the store is
// another one, and nothing where nothing has changed.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoredKey } from '#dist/server/keys/key-record.js';
import { Follower } from '#dist/server/keys/store/follower.js';
import { storedKey } from '../../support/keys.js';

/** Keys with the number of their change, as a store counts them. */
class World {
  keys = new Map<string, { key: StoredKey; change: number }>();
  change = 0;
  epoch = 'a';
  opened = 0;
  closed = 0;
  isGone = false;
  reads = 0;

  put(id: string, name: string): void {
    this.keys.set(id, { key: storedKey(id, { id, name }), change: ++this.change });
  }

  remove(id: string): void {
    if (this.keys.delete(id)) this.change++;
    this.epoch += 'x';
  }

  open() {
    this.opened++;
    this.isGone = false;
    return {
      news: async () => (this.isGone ? 'gone' : 'perhaps'),
      head: async () => ({ epoch: this.epoch, change: this.change, pepperCheck: undefined }),
      keys: async (after = -1) => {
        this.reads++;
        return [...this.keys.values()].filter(({ change }) => change > after).map(({ key }) => key);
      },
      close: async () => void this.closed++,
    };
  }
}

const step = fc.oneof(
  fc.tuple(fc.constant('put' as const), fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 2 })),
  fc.tuple(
    fc.constantFrom('remove' as const, 'gone' as const, 'read' as const),
    fc.integer({ min: 0, max: 4 }),
    fc.constant(0),
  ),
);

test('whatever happens between the reads, what is known is what is in the store', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const world = new World();
      const follower = new Follower(
        async () => world.open() as never,
        () => {},
      );
      const known = new Map<string, StoredKey>();
      const read = async (): Promise<void> => {
        const changes = await follower.read();
        for (const key of changes?.keys ?? []) {
          // Nothing is said twice.
          expect(known.get(key.id)).not.toEqual(key);
          known.set(key.id, key);
        }
        for (const id of changes?.removedIds ?? []) expect(known.delete(id)).toBe(true);
        if (changes !== undefined) expect(changes.keys.length + changes.removedIds.length).toBeGreaterThan(0);
        expect([...known.keys()].sort()).toEqual([...world.keys.keys()].sort());
        for (const [id, { key }] of world.keys) expect(known.get(id)).toEqual(key);
      };
      for (const [what, id, name] of steps) {
        if (what === 'put') world.put(`k${id}`, `n${name}`);
        else if (what === 'remove') world.remove(`k${id}`);
        else if (what === 'gone') world.isGone = true;
        else await read();
      }
      await read();
      const { opened, reads } = world;
      await read();
      // A store that is there stays open, and is not read again where its head is the same.
      expect([world.opened, world.reads]).toEqual([opened, reads]);
      expect(world.closed).toBe(opened - 1);
    }),
  );
});
