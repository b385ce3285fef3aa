// Kinds of files that the page does not read, and the ways out, in Vietnamese (src/tables/foreign-files.ts).

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
  'an Excel workbook of before 2007 (.xls), or one with a password':
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
export function foreignInVietnamese(sentence: string): string | undefined {
  const [, what = '', way = ''] = /^It is (.+?); (.*)$/s.exec(sentence) ?? [];
  const kind = KINDS[what] ?? WRAPPED.exec(what)?.[0].replace(WRAPPED, 'đối tượng JSON có các dòng trong $1');
  const hint = HINTS.find(([english]) => way.startsWith(english));
  return kind === undefined || hint === undefined
    ? undefined
    : `đây là ${kind}; ${hint[1]}${way.slice(hint[0].length)}`;
}
