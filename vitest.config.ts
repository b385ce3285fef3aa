import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // uWebSockets.js aborts the process when a worker thread that holds an app ends, so every file gets a process.
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // Vitest would give up after a second, which a busy machine can need.
    expect: { poll: { timeout: 30_000 } },
  },
});
