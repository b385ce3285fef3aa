// Why a file or a row cannot be read, in Vietnamese. The readers say it in English; here each of their
// sentences has a Vietnamese one, and a rarer one the kind of its fault.

import { foreignInVietnamese } from './foreign-files.js';

const VIETNAMESE: readonly (readonly [english: RegExp, vietnamese: string])[] = [
  [/^The file is empty$/, 'tệp không có nội dung'],
  [
    /^There is no column lat or latitude; the header row has (.*)$/s,
    'không có cột vĩ độ (lat); hàng tiêu đề gồm $1',
  ],
  [
    /^There is no column lng or lon or longitude; the header row has (.*)$/s,
    'không có cột kinh độ (lng); hàng tiêu đề gồm $1',
  ],
  [/^There is no column hexcodes; the header row has (.*)$/s, 'không có cột mã; hàng tiêu đề gồm $1'],
  [/^More than one column could be (\w+): (.*)$/s, 'có nhiều cột có thể là $1: $2'],
  [/^The header row has a quote that is not closed$/, 'hàng tiêu đề có dấu ngoặc kép chưa đóng'],
  [/^The header row is longer than (\d+) bytes$/, 'hàng tiêu đề dài hơn $1 byte'],
  [/^The body has no header row$/, 'không có hàng tiêu đề'],
  [/^Byte (\d+) of the body is NUL: CSV is text in UTF-8$/, 'đây không phải là văn bản (byte $1)'],
  [
    /^Byte (\d+) of the body is not UTF-8, in which CSV must be written$/,
    'byte $1 không phải là UTF-8; hãy lưu bảng dưới dạng CSV UTF-8',
  ],
  [
    /^A row is longer than (.+); perhaps a quote in it is not closed$/,
    'có dòng dài hơn $1; có thể một dấu ngoặc kép chưa đóng',
  ],
  [/^The rows have far fewer fields than the header row$/, 'các dòng có ít cột hơn hẳn hàng tiêu đề'],
  [
    /^The workbook is larger than 64 MiB; save the sheet as CSV$/,
    'tệp Excel lớn hơn 64 MiB; hãy lưu trang tính dạng CSV',
  ],
  [/^Lines end in CR CR LF, not in CR LF$/, 'các dòng kết thúc bằng CR CR LF, không phải CR LF'],
  [/^Lines end in CR alone, not in LF$/, 'các dòng kết thúc bằng CR, không phải LF'],
  [/^The file is too large for a page$/, 'tệp quá lớn cho trang này'],
  [/^it is not valid JSON$/, 'tệp JSON bị hỏng'],
  [/^its list holds rows of several kinds$/, 'danh sách JSON có các dòng khác loại'],
  [/^it holds no rows$/, 'tệp không có dòng nào'],
  [/^its coordinates are in (.+), not in degrees of WGS 84$/, 'tọa độ theo hệ $1, không phải độ WGS 84'],
  [/^it is a FeatureCollection without features$/, 'FeatureCollection không có features'],
  [/^it is not XML as it should be: .*$/s, 'tệp XML bị hỏng'],
  [/^the archive is broken \(.*\)$/s, 'tệp nén bị hỏng'],
  [
    /^The workbook is broken: (sheet ".*") has (\d+) columns and (\d+) rows: .*$/s,
    '$1 có $2 cột và $3 dòng: có một ô nằm rất xa các ô khác; hãy xóa ô đó',
  ],
  [/^The workbook is broken: .*$/s, 'tệp Excel bị hỏng'],
  [/^item is not valid JSON$/, 'dòng không phải là JSON hợp lệ'],
  [/^item is not valid UTF-8$/, 'dòng không phải là UTF-8'],
  [/^item must be a code or an object with a member hexcodes$/, 'phải là một mã hoặc đối tượng có hexcodes'],
  [
    /^item must be an object with lat and lng, or \[lat, lng\]$/,
    'phải là đối tượng có lat và lng, hoặc [lat, lng]',
  ],
  [/^item is longer than (\d+) bytes$/, 'dòng dài hơn $1 byte'],
];

const PARAMETERS: Readonly<Record<string, string>> = {
  lat: 'vĩ độ',
  lng: 'kinh độ',
  hexcodes: 'mã',
  resolution: 'bậc',
  id: 'id',
  row: 'dòng',
};
const FAULTS: readonly (readonly [english: RegExp, vietnamese: string])[] = [
  [/^has a quote that is not closed$/, 'có dấu ngoặc kép chưa đóng'],
  [/^has (\d+) fields where the header has (\d+)$/, 'có $1 cột, trong khi hàng tiêu đề có $2'],
  [/^is required$/, 'bị bỏ trống'],
  [/^must be a decimal number from (\S+) to (\S+)$/, 'phải là số thập phân từ $1 đến $2'],
  [/^must be from (\S+) to (\S+)$/, 'phải từ $1 đến $2'],
  [/^must be an integer from 0 to 15$/, 'phải là số nguyên từ 0 đến 15'],
  [/^must be a JSON number$/, 'phải là số JSON'],
  [/^must be a JSON string$/, 'phải là chuỗi JSON'],
  [/^must be true or false$/, 'phải là true hoặc false'],
  [/^must be a string of at most (\d+) characters or a number$/, 'phải là chuỗi không quá $1 ký tự hoặc số'],
  [/^is given more than once with different values$/, 'có nhiều giá trị khác nhau'],
];

const RARE = 'tệp bị hỏng, hoặc có phần mà trang này không đọc';

/** The Vietnamese sentence; of a rare one what kind of fault it is. */
export function inVietnamese(sentence: string): string {
  const foreign = foreignInVietnamese(sentence);
  if (foreign !== undefined) return foreign;
  for (const [english, vietnamese] of VIETNAMESE)
    if (english.test(sentence)) return sentence.replace(english, vietnamese);
  const [, parameter = '', fault = ''] = /^(\w+) (.*)$/s.exec(sentence) ?? [];
  const name = PARAMETERS[parameter];
  const found = FAULTS.find(([english]) => english.test(fault));
  if (name === undefined) return RARE;
  if (found === undefined) return `${name} không hợp lệ`;
  return `${name} ${fault.replace(found[0], found[1])}`;
}
