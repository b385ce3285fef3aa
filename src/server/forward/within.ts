// Waits for work, but not without end: the end of a process has its time.

/** Resolves when the work is done, or after the time, whichever is first; rejects as the work does until then. */
export async function within(timeMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
