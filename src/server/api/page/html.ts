// Text to HTML.

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for use between tags and in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (letter) => ENTITIES[letter] as string);

/** A text whose `…` are code. */
export const withCode = (text: string): string => escapeHtml(text).replace(/`([^`]*)`/g, '<code>$1</code>');

/** @param rows cells of HTML */
export function table(
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  if (rows.length === 0) return '';
  const headCells = heads.map((head) => `<th scope="col">${head}</th>`).join('');
  const body = rows.map(
    ([first, ...rest]) =>
      `<tr><th scope="row">${first}</th>${rest.map((cell) => `<td>${cell}</td>`).join('')}</tr>`,
  );
  return `<div class="wide" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption><thead><tr>${headCells}</tr></thead><tbody>${body.join('')}</tbody></table></div>`;
}
