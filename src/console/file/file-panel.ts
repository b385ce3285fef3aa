// The panel for files, and files that are dropped anywhere on the page. All else comes when the panel is first opened.
import type { Panel } from '../panels.js';
import { withStyle } from '../shell/styles.js';

export const FILE_PANEL: Panel = {
  id: 'file',
  title: 'file',
  open: async (host, desk) => {
    const { FileDesk } = await withStyle(import('./file-desk.js'));
    const files = new FileDesk(desk);
    host.append(...files.elements());
    take = (dropped) => files.convertFiles(dropped);
    if (early.length > 0) take(early);
    early = [];
  },
};

/** Takes dropped files, once the panel is open. */
let take: ((files: readonly File[]) => void) | undefined;
/** Files that were dropped before. */
let early: File[] = [];

/** Files that are dropped anywhere on the page open the panel. */
export function openDrops(showPanel: () => void): void {
  const isFile = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') === true;
  document.addEventListener('dragover', (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    document.body.classList.add('is-dropping');
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) document.body.classList.remove('is-dropping');
  });
  document.addEventListener('drop', (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    document.body.classList.remove('is-dropping');
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    showPanel();
    if (take === undefined) early.push(...files);
    else take(files);
  });
}
