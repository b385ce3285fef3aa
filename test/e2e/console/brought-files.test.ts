// Files as dispatchers have them: each is converted or refused with the sentence that helps, in both languages; what is
// not clear is chosen, and what failed is taken away. A workbook comes in and leaves.
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { CliFolder } from '../../support/cli.js';
import { consoleCases } from '../../support/console-cases.js';
import { axeOf, downloaded, hasChromium, mapState } from '../../support/console-page.js';
import { DISPATCHER_FILES } from '../../support/dispatcher-files.js';
import { ServedConsole } from '../../support/served-console.js';

const CASES = consoleCases('file');

describe.skipIf(!hasChromium)('needs Chromium', () => {
  const served = new ServedConsole(false);
  const folder = new CliFolder();
  afterAll(async () => {
    folder.remove();
  });

  const opened = async (locale = 'en') => {
    const shown = await served.open({ locale });
    await mapState(shown.page);
    await shown.page.click('#tab-file');
    return shown;
  };
  const put = async (page: Page, ...names: string[]): Promise<void> => {
    const files = names.map((name) => ({
      name,
      mimeType: 'application/octet-stream',
      buffer: DISPATCHER_FILES[name]!(),
    }));
    await page.locator('#file-input').setInputFiles(files);
    await expect
      .poll(() => page.locator('.file-answer').count(), { timeout: 60_000 + 4000 * names.length })
      .toBe(names.length);
  };

  test('the table has more than 20 files, all in one drop', async () => {
    expect(CASES.length).toBeGreaterThan(20);
    const { page, faults, close } = await opened();
    await put(page, ...CASES.map(([name]) => name));
    const answers = await page.locator('.file-answer').allTextContents();
    for (const [i, [name, wanted]] of CASES.entries())
      for (const words of wanted.split(' | '))
        expect([name, answers[i]]).toEqual([name, expect.stringContaining(words)]);
    expect((await axeOf(page)).violations).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  });

  test('reasons are Vietnamese on the Vietnamese page', async () => {
    const { page, close } = await opened('vi-VN');
    await put(page, 'tọa độ.csv', 'other names.csv', 'old.xls', 'login.csv', 'places.parquet', 'empty.csv');
    const answers = await page.locator('.file-answer').allTextContents();
    for (const [i, words] of [
      'vĩ độ bị bỏ trống',
      'không có cột vĩ độ (lat)',
      'hãy lưu lại dạng .xlsx',
      'đây là trang web',
      'Trang này không đọc Parquet',
      'tệp không có nội dung',
    ].entries())
      expect(answers[i]).toContain(words);
    await close();
  });

  test('columns are chosen, with ten rows to look at, and names of the file stay', async () => {
    const { page, faults, close } = await opened();
    await put(page, 'other names.csv');
    const chooser = page.locator('.file-answer details.fold');
    expect(await chooser.locator('td').allTextContents()).toEqual(['Đại Nội', '16.4698', '107.5786']);
    await chooser.getByLabel('Column of latitudes').selectOption('bắc');
    await chooser.getByLabel('Column of longitudes').selectOption('đông');
    await chooser.locator('.convert-again').click();
    await page.locator('#file-download').waitFor();
    const { name, bytes } = await downloaded(page, '#file-download');
    expect(name).toBe('other names-hexcodes.csv');
    expect(bytes.toString()).toMatch(
      /^nơi,bắc,đông,hexcodes,resolution,admin_code,status\nĐại Nội,16\.4698,107\.5786,HUE-\S+,13,HUE,OK\n$/,
    );
    expect(await page.locator('#map').getAttribute('data-points')).toBe('1');
    expect(faults).toEqual([]);
    await close();
  });

  test('failed rows are a file of their own', async () => {
    const { page, close } = await opened();
    await put(page, 'tiếng việt.csv');
    const { name, bytes } = await downloaded(page, '.failed-download');
    expect(name).toBe('tiếng việt-hexcodes-failed.csv');
    expect(bytes.toString()).toBe(
      'tên,vĩ độ,kinh độ,hexcodes,resolution,admin_code,status\nPari,48.85,2.35,,13,,NOT_FOUND\n',
    );
    await put(page, 'lines.ndjson');
    const lines = await downloaded(page, '.failed-download');
    expect(JSON.parse(lines.bytes.toString())).toMatchObject({ status: 'NOT_FOUND' });
    await close();
  });

  test('a table of another encoding leaves with the mark by which spreadsheets know UTF-8, as the command writes it', async () => {
    folder.write('utf16.csv', DISPATCHER_FILES['utf16.csv']!());
    expect((await folder.run(['encode', 'utf16.csv', '-o', 'out.csv', '-q'])).code).not.toBe(2);
    const { page, close } = await opened();
    await put(page, 'utf16.csv');
    const { bytes } = await downloaded(page, '#file-download');
    expect(bytes.toString()).toBe(folder.bytes('out.csv').toString());
    await close();
  });

  test('a workbook comes in, sheet by sheet, and leaves as one that the command reads', async () => {
    const { page, faults, close } = await opened();
    await put(page, 'workbook.xlsx');
    const sheets = page.getByRole('combobox', { name: 'Sheet', exact: true });
    await page.locator('.file-answer summary').last().click();
    expect((await sheets.locator('option').allTextContents()).length).toBeGreaterThan(1);
    const name = (await sheets.locator('option').first().textContent())!;
    folder.write('book.xlsx', DISPATCHER_FILES['workbook.xlsx']!());
    const expected = await folder.run(['encode', 'book.xlsx', '-q', '--sheet', name]);
    const { bytes } = await downloaded(page, '#file-download');
    expect(bytes.toString()).toBe(`\ufeff${expected.stdout}`);
    const workbook = await downloaded(page, '#file-workbook');
    expect(workbook.name).toBe('workbook-hexcodes.xlsx');
    folder.write('back.xlsx', workbook.bytes);
    const back = await folder.run(['decode', 'back.xlsx', '-q', '--prefix', 'back_', '--to', 'ndjson']);
    const codes = expected.stdout.match(/[A-Z]{2,3}-[0-9A-Z]{5}-[0-9A-Z]{5}/g)!;
    expect(codes.length).toBeGreaterThan(0);
    for (const code of codes) expect(back.stdout).toContain(`"hexcodes":"${code}"`);
    const other = (await sheets.locator('option').nth(1).textContent())!;
    const rows = (): Promise<string | null> => page.locator('.first-rows').textContent();
    const before = await rows();
    await sheets.selectOption(other);
    await expect
      .poll(async () => (await page.locator('.first-rows').count()) === 1 && (await rows()))
      .not.toBe(before);
    expect(await page.locator('.file-answer').count()).toBe(1);
    expect(faults).toEqual([]);
    await close();
  });
});
