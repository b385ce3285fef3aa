// Style sheets that come later than the page.
import { shipped } from '../shipped.js';
import { element } from './elements.js';

export function loadStyle(part: 'mapStyle' | 'laterStyle'): Promise<void> {
  const href = shipped.files[part];
  return new Promise((resolve, reject) => {
    const link = element('link', { attributes: { rel: 'stylesheet', href } });
    link.addEventListener('load', () => resolve());
    link.addEventListener('error', () => {
      link.remove();
      reject(new Error(`${href} cannot be loaded`));
    });
    // That of the map's library before our own, which has the last word.
    if (part === 'mapStyle') document.head.prepend(link);
    else document.head.append(link);
  });
}

let later: Promise<void> | undefined;

/** A part of the page that comes later, once it has its style. */
export async function withStyle<Part>(part: Promise<Part>): Promise<Part> {
  later ??= loadStyle('laterStyle').catch((error: unknown) => {
    later = undefined;
    throw error;
  });
  const [loaded] = await Promise.all([part, later]);
  return loaded;
}
