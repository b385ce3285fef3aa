// Files that other programs made (test/fixtures/brought), as the page reads them: each gives its codes, or a sentence
// that helps, in both languages.
import { expect, test } from 'vitest';
import { broughtCases, broughtFile, SHOP_CODES } from '../../../support/brought-files.js';
import { consoleModule } from '../../../support/console-module.js';
import { answerTo } from '../../../support/page-conversion.js';

const { inVietnamese } = await consoleModule<{ inVietnamese(sentence: string): string }>('words/reasons.ts');

const ENGLISH = /\b(?:is|must|has|have|the|be|of|it)\b/i;

test.each(
  broughtCases()
    .filter(({ options }) => options.length === 0)
    .map(({ file, page }) => [file, page]),
)('%s', async (file, page) => {
  const answer = await answerTo(broughtFile(file), file);
  if (page === 'codes') {
    expect(answer.match(/(?:HN|HCM|DNG)-[0-9A-Z]{5}-[0-9A-Z]{5}/g)).toEqual(SHOP_CODES);
    return;
  }
  if (page === 'failed') {
    expect(answer).toContain('INVALID_REQUEST');
    return;
  }
  for (const words of page.split(' | ')) expect(answer).toContain(words);
  if (page === 'command') return;
  const [words = ''] = inVietnamese(answer).split(/: (?=[\w:]+ )/);
  expect(words).not.toMatch(ENGLISH);
});
