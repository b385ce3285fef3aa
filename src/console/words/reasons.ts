// Why a file or a row cannot be read, in Vietnamese. The readers say it in English; here each of their
// sentences has a Vietnamese one, and a rarer one the kind of its fault.

// Kinds of files that the page does not read, and the remedies, in Vietnamese (src/tables/foreign-files.ts).

const KINDS: Readonly<Record<string, string>> = {
  'packed with bzip2': 'tệp nén bzip2',
  'packed with xz': 'tệp nén xz',
  'packed with LZ4': 'tệp nén LZ4',
  'packed with Zstandard': 'tệp nén Zstandard',
  'a 7z archive': 'tệp nén 7z',
  'a RAR archive': 'tệp nén RAR',
  'a ZIP archive': 'tệp nén ZIP',
  'an OpenDocument spreadsheet': 'bảng tính OpenDocument (.ods)',
  'an Excel workbook with a password': 'tệp Excel có mật khẩu',
  'an Excel workbook from before 2007 (.xls), or one with a password':
    'tệp Excel đời cũ (.xls) hoặc có mật khẩu',
  'a shapefile in a ZIP archive': 'shapefile trong tệp ZIP',
  'a shapefile': 'shapefile',
  FlatGeobuf: 'FlatGeobuf',
  'a dBase table': 'bảng dBase',
  'a MapInfo table': 'bảng MapInfo',
  'MapInfo MIF': 'MapInfo MIF',
  'a drawing (DXF)': 'bản vẽ (DXF)',
  'a Garmin FIT file': 'tệp Garmin FIT',
  'a Garmin database': 'cơ sở dữ liệu Garmin',
  'a Garmin training (TCX)': 'buổi tập Garmin (TCX)',
  'NMEA sentences': 'câu NMEA',
  'an IGC track': 'vết IGC',
  'an OziExplorer file': 'tệp OziExplorer',
  'a list of geocaches': 'danh sách geocache',
  'a SYLK table': 'bảng SYLK',
  'a DIF table': 'bảng DIF',
  'data of R': 'dữ liệu của R',
  'an ORC file': 'tệp ORC',
  'a pickle of Python': 'tệp pickle của Python',
  'an Avro file': 'tệp Avro',
  'a DuckDB database': 'cơ sở dữ liệu DuckDB',
  'an Access database': 'cơ sở dữ liệu Access',
  'data of Stata': 'dữ liệu của Stata',
  'an HDF5 file': 'tệp HDF5',
  'a dump of SQLite': 'bản kết xuất SQLite',
  'a dump of MySQL': 'bản kết xuất MySQL',
  'a table that is drawn for people': 'bảng vẽ bằng ký tự cho người đọc',
  'a dump of a database': 'bản kết xuất cơ sở dữ liệu',
  'a PDF document': 'tệp PDF',
  'a picture': 'hình ảnh',
  'a web page with a table': 'trang web có bảng',
  'a web page': 'trang web',
  'a spreadsheet as XML': 'bảng tính dạng XML',
  'a spreadsheet of Gnumeric': 'bảng tính Gnumeric',
  'XML, and neither GPX nor KML': 'XML, không phải GPX hay KML',
  'a JSON array': 'mảng JSON',
  'JSON whose objects go over several lines': 'JSON mà mỗi đối tượng trải trên nhiều dòng',
  'a table of pandas': 'bảng của pandas',
  'text whose lines end in CR alone': 'văn bản mà các dòng chỉ kết thúc bằng CR',
};

/** The words before a line of a shell, or the whole hint. */
const HINTS: readonly (readonly [english: string, vietnamese: string])[] = [
  ['unpack it first: ', 'hãy giải nén trước: '],
  ['convert it: ', 'hãy chuyển đổi: '],
  ['save it as .xlsx: ', 'hãy lưu lại dạng .xlsx: '],
  ['save it as .xlsx without a password: ', 'hãy lưu lại dạng .xlsx, không mật khẩu: '],
  ['save it as .xlsx without a password', 'hãy lưu lại dạng .xlsx, không mật khẩu'],
  ['save the table as .xlsx: ', 'hãy lưu bảng dạng .xlsx: '],
  ['ask for the table itself, as CSV or .xlsx', 'hãy xin chính bảng đó, dạng CSV hoặc .xlsx'],
  [
    'perhaps that of a login was saved in place of the file',
    'có thể trang đăng nhập đã được lưu thay cho tệp',
  ],
  ['perhaps ogr2ogr reads it: ', 'có thể ogr2ogr đọc được: '],
  ['it says no system of coordinates. If they are degrees: ', 'tệp không nói hệ tọa độ; nếu là độ: '],
  ['write the table: ', 'hãy xuất bảng: '],
  ['write the table as CSV or Parquet', 'hãy xuất bảng dạng CSV hoặc Parquet'],
  ['write it as CSV: ', 'hãy xuất dạng CSV: '],
  ['load it, and write the table: ', 'hãy nạp vào rồi xuất bảng: '],
  ['load it, and write the table as TSV: ', 'hãy nạp vào cơ sở dữ liệu rồi xuất bảng dạng TSV: '],
  ['load it, and write the table as CSV: ', 'hãy nạp vào cơ sở dữ liệu rồi xuất bảng dạng CSV: '],
  ['one object a line is read: ', 'mỗi đối tượng một dòng thì đọc được: '],
  ['give them other ends: ', 'hãy đổi cách kết thúc dòng: '],
];

const WRAPPED = /^an object whose rows are in (\w+)$/;

/** The Vietnamese sentence about such a file; undefined for another one. */
function foreignInVietnamese(sentence: string): string | undefined {
  const [, what = '', way = ''] = /^It is (.+?); (.*)$/s.exec(sentence) ?? [];
  const kind = KINDS[what] ?? WRAPPED.exec(what)?.[0].replace(WRAPPED, 'đối tượng JSON có các dòng trong $1');
  const hint = HINTS.find(([english]) => way.startsWith(english));
  return kind === undefined || hint === undefined
    ? undefined
    : `đây là ${kind}; ${hint[1]}${way.slice(hint[0].length)}`;
}

const VIETNAMESE: readonly (readonly [english: RegExp, vietnamese: string])[] = [
  [/^The file is empty$/, 'tệp không có nội dung'],
  [
    /^It is a folder, or it has been changed or moved: choose it again$/,
    'đó là thư mục, hoặc tệp đã bị sửa hay chuyển chỗ: hãy chọn lại',
  ],
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
