// The worker that lists the codes of zones beside the page.
import type { CoverNews, CoverTask } from './zone-list.js';
import { codesOfZones, libraryOf, listOf, shownCodes, ZoneTooLargeError } from './zone-list.js';

const tell = (news: CoverNews): void => postMessage(news);

addEventListener('message', ({ data }: MessageEvent<CoverTask>) => {
  list(data).catch((error: unknown) => {
    if (error instanceof ZoneTooLargeError) tell({ kind: 'tooLarge', zone: error.zone });
    else reportError(error);
  });
});

async function list(task: CoverTask): Promise<void> {
  const library = await libraryOf(task.paths);
  const codes = codesOfZones(library, task);
  const names = task.zones.map(({ name }) => name);
  tell({ kind: 'listed', codes: codes.map(shownCodes), csv: listOf(library, names, codes) });
}
