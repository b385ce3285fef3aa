-- Hexcodes in plain SQL, for DuckDB 1.3 and later: macros without an extension, after docs/code-format.md (format 1).
-- Run this file once in a database. docs/sql/README.md says how to use it; names with a leading _ are its own business.

-- The name of a province; NULL for letters that are no admin code.
CREATE OR REPLACE MACRO _hexcode_province(admin) AS
  [
    'Tuyên Quang', 'Cao Bằng', 'Lai Châu', 'Lào Cai', 'Thái Nguyên', 'Điện Biên', 'Lạng Sơn', 'Sơn La', 'Phú Thọ',
    'Bắc Ninh', 'Quảng Ninh', 'Hà Nội', 'Hải Phòng', 'Hưng Yên', 'Ninh Bình', 'Thanh Hóa', 'Nghệ An', 'Hà Tĩnh',
    'Quảng Trị', 'Huế', 'Đà Nẵng', 'Quảng Ngãi', 'Gia Lai', 'Đắk Lắk', 'Khánh Hòa', 'Lâm Đồng', 'Đồng Nai', 'Tây Ninh',
    'TP. Hồ Chí Minh', 'Đồng Tháp', 'An Giang', 'Vĩnh Long', 'Cần Thơ', 'Cà Mau'
  ][list_position([
    'TQ', 'CB', 'LCU', 'LCI', 'TN', 'DB', 'LS', 'SL', 'PT', 'BN', 'QNH', 'HN', 'HP', 'HY', 'NB', 'TH', 'NA', 'HT',
    'QT', 'HUE', 'DNG', 'QNG', 'GL', 'DLK', 'KH', 'LD', 'DN', 'TNH', 'HCM', 'DT', 'AG', 'VL', 'CT', 'CM'
  ], admin)];

-- Values of symbols, 0 to 19, and back.
CREATE OR REPLACE MACRO _hexcode_value(symbol) AS instr('23456789CFGHJKMPQRVX', symbol) - 1;
CREATE OR REPLACE MACRO _hexcode_symbol(value) AS substr('23456789CFGHJKMPQRVX', value + 1, 1);
CREATE OR REPLACE MACRO _hexcode_pair(number) AS _hexcode_symbol(number // 20) || _hexcode_symbol(number % 20);

-- The number of the pair whose first symbol has this index, from 1, in head, pairs and check.
CREATE OR REPLACE MACRO _hexcode_number(symbols, first) AS
  20 * _hexcode_value(substr(symbols, first, 1)) + _hexcode_value(substr(symbols, first + 1, 1));

-- How many H3 digits a pair has, as text: the depths of a tree of seven children in pre-order, 0 for the pair that is not used.
CREATE OR REPLACE MACRO _hexcode_depth(number) AS
  substr('0' || repeat('1' || repeat('2' || repeat('3', 7), 7), 7), number + 1, 1);

-- The same of each pair: '332' for three pairs.
CREATE OR REPLACE MACRO _hexcode_depths(symbols) AS
  array_to_string([_hexcode_depth(_hexcode_number(symbols, 2 * i)) for i in range(1, length(symbols) // 2)], '');

-- Head and pairs, with or without the check, in groups of five after the admin code.
CREATE OR REPLACE MACRO _hexcode_text(admin, symbols) AS
  admin || '-' || rtrim(regexp_replace(symbols, '(.{5})', '\1-', 'g'), '-');

-- The check of an admin code, head and pairs: a sum over GF(4), of their values mod 4, beside one over the integers mod 5.
-- [… for x in [value]][1] gives a value a name, so that it is computed once.
CREATE OR REPLACE MACRO _hexcode_check(admin, symbols) AS
  [_hexcode_symbol((
    5 * list_bit_xor([[[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2]][(length(numbers) - i + 1) % 3 + 1][value % 4 + 1] for value, i in numbers])
    + 16 * ((5 - list_sum([[1, 2, 4, 3][(length(numbers) - i + 1) % 4 + 1] * value for value, i in numbers]) % 5) % 5)
  )::INTEGER % 20) for numbers in [list_concat(
    [(ascii(letter) - 65) % 20 for letter in string_split(admin, '')],
    [_hexcode_value(symbol) for symbol in string_split(symbols, '')])]][1];

-- Head and pairs with their check, as canonical text.
CREATE OR REPLACE MACRO _hexcode_checked(admin, symbols) AS
  _hexcode_text(admin, symbols || _hexcode_check(admin, symbols));

-- A text as people spell it: capital letters without marks, digits, and - for every separator.
CREATE OR REPLACE MACRO _hexcode_spelling(code) AS
  CASE WHEN regexp_full_match(code, '[A-Z2-9-]*') THEN code ELSE regexp_replace(regexp_replace(
    translate(
      code,
      'aＡａÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎǞǟǠǡǺǻȀȁȂȃȦȧḀḁẠạẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặ'
      || 'bＢｂḂḃḄḅḆḇ'
      || 'cＣｃÇçĆćĈĉĊċČčḈḉ'
      || 'dＤｄĎďḊḋḌḍḎḏḐḑḒḓĐđÐð'
      || 'eＥｅÈÉÊËèéêëĒēĔĕĖėĘęĚěȄȅȆȇȨȩḔḕḖḗḘḙḚḛḜḝẸẹẺẻẼẽẾếỀềỂểỄễỆệ'
      || 'fＦｆḞḟ'
      || 'gＧｇĜĝĞğĠġĢģǦǧǴǵḠḡ'
      || 'hＨｈĤĥȞȟḢḣḤḥḦḧḨḩḪḫẖ'
      || 'iＩｉÌÍÎÏìíîïĨĩĪīĬĭĮįİǏǐȈȉȊȋḬḭḮḯỈỉỊị'
      || 'jＪｊĴĵǰ'
      || 'kＫｋĶķǨǩḰḱḲḳḴḵ'
      || 'lＬｌĹĺĻļĽľḶḷḸḹḺḻḼḽ'
      || 'mＭｍḾḿṀṁṂṃ'
      || 'nＮｎÑñŃńŅņŇňǸǹṄṅṆṇṈṉṊṋ'
      || 'oＯｏÒÓÔÕÖòóôõöŌōŎŏŐőƠơǑǒǪǫǬǭȌȍȎȏȪȫȬȭȮȯȰȱṌṍṎṏṐṑṒṓỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợ'
      || 'pＰｐṔṕṖṗ'
      || 'qＱｑ'
      || 'rＲｒŔŕŖŗŘřȐȑȒȓṘṙṚṛṜṝṞṟ'
      || 'sＳｓŚśŜŝŞşŠšȘșṠṡṢṣṤṥṦṧṨṩ'
      || 'tＴｔŢţŤťȚțṪṫṬṭṮṯṰṱẗ'
      || 'uＵｕÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲųƯưǓǔǕǖǗǘǙǚǛǜȔȕȖȗṲṳṴṵṶṷṸṹṺṻỤụỦủỨứỪừỬửỮữỰự'
      || 'vＶｖṼṽṾṿ'
      || 'wＷｗŴŵẀẁẂẃẄẅẆẇẈẉẘ'
      || 'xＸｘẊẋẌẍ'
      || 'yＹｙÝýÿŶŷŸȲȳẎẏẙỲỳỴỵỶỷỸỹ'
      || 'zＺｚŹźŻżŽžẐẑẒẓẔẕ'
      || '２３４５６７８９－．＿',
      repeat('A', 61) || repeat('B', 9) || repeat('C', 15) || repeat('D', 19) || repeat('E', 53) || repeat('F', 5)
      || repeat('G', 17) || repeat('H', 18) || repeat('I', 34) || repeat('J', 6) || repeat('K', 13) || repeat('L', 17)
      || repeat('M', 9) || repeat('N', 21) || repeat('O', 71) || repeat('P', 7) || repeat('Q', 3) || repeat('R', 21)
      || repeat('S', 23) || repeat('T', 18) || repeat('U', 63) || repeat('V', 7) || repeat('W', 16) || repeat('X', 7)
      || repeat('Y', 22) || repeat('Z', 15) || '23456789---'
    ),
    '[\x{300}-\x{36F}]', '', 'g'),
    '[\x{9}-\x{D} ._\x{A0}\x{AD}\x{2000}-\x{2015}\x{202F}\x{205F}\x{2060}\x{2212}\x{3000}\x{FEFF}]', '-', 'g') END;

-- The characters of a code without separators; NULL where there are too few or too many, others than A-Z and 2-9, or where the
-- first separator comes after two or three characters that are not the whole admin code.
CREATE OR REPLACE MACRO _hexcode_bare(code) AS
  [CASE
    WHEN length(code) > 64 OR NOT regexp_full_match(spelt, '-*(?:[A-Z2-9]-*){4,15}') THEN NULL
    WHEN length(regexp_extract(spelt, '^-*([A-Z2-9]{2,3})-', 1)) = 3 - length(replace(spelt, '-', '')) % 2 THEN NULL
    ELSE replace(spelt, '-', '')
  END for spelt in [_hexcode_spelling(code)]][1];

-- Whether an admin code with head, pairs and check is a hexcode.
CREATE OR REPLACE MACRO _hexcode_is_sound(admin, symbols) AS
  _hexcode_province(admin) IS NOT NULL
  AND regexp_full_match(symbols, '[2-9CFGHJKMP][2-9CFGHJKMPQRVX]{1,11}')
  AND (length(symbols) = 2 OR left(symbols, 1) NOT IN ('2', '8', 'H'))
  AND regexp_full_match(_hexcode_depths(symbols), '3{0,4}[12]?')
  AND right(symbols, 1) = _hexcode_check(admin, left(symbols, -1));

-- The canonical text of a code in any spelling; NULL where the text is no hexcode.
CREATE OR REPLACE MACRO hexcode_canonical(code) AS
  [[CASE WHEN _hexcode_is_sound(admin, substr(bare, length(admin) + 1)) THEN _hexcode_text(admin, substr(bare, length(admin) + 1))
  END for admin in [left(bare, 2 + length(bare) % 2)]][1] for bare in [_hexcode_bare(code)]][1];

-- Whether a text is a hexcode, in any spelling.
CREATE OR REPLACE MACRO hexcode_is_valid(code) AS hexcode_canonical(code) IS NOT NULL;

-- Parts of a canonical text.
CREATE OR REPLACE MACRO _hexcode_admin(canonical) AS split_part(canonical, '-', 1);
CREATE OR REPLACE MACRO _hexcode_symbols(canonical) AS regexp_replace(canonical, '^[A-Z]+-|-', '', 'g');
CREATE OR REPLACE MACRO _hexcode_level(symbols) AS
  CASE WHEN length(symbols) > 2
    THEN 3 * (length(symbols) // 2) - 5 + _hexcode_depth(_hexcode_number(symbols, length(symbols) - 2))::INTEGER
    WHEN left(symbols, 1) IN ('2', '8', 'H') THEN 0
    WHEN length(symbols) = 2 THEN 1
  END;

-- Of a code in any spelling: letters and name of its province, resolution of its cell. NULL where the text is no hexcode.
CREATE OR REPLACE MACRO hexcode_admin_code(code) AS _hexcode_admin(hexcode_canonical(code));
CREATE OR REPLACE MACRO hexcode_province(code) AS _hexcode_province(hexcode_admin_code(code));
CREATE OR REPLACE MACRO hexcode_resolution(code) AS
  [_hexcode_level(symbols) for symbols in [_hexcode_symbols(hexcode_canonical(code))]][1];

-- Head and pairs of an ancestor, of resolution 0 up to that of the symbols.
CREATE OR REPLACE MACRO _hexcode_cut(number, depth) AS
  CASE depth WHEN 1 THEN number - (number - 1) % 57 WHEN 2 THEN number - ((number - 1) % 57 - 1) % 8 ELSE number END;
CREATE OR REPLACE MACRO _hexcode_ancestor(symbols, resolution) AS
  CASE resolution
    WHEN 0 THEN CASE WHEN left(symbols, 1) < '8' THEN '2' WHEN left(symbols, 1) < 'H' THEN '8' ELSE 'H' END
    WHEN 1 THEN left(symbols, 1)
    ELSE left(symbols, 1 + 2 * ((resolution - 2) // 3))
      || _hexcode_pair(_hexcode_cut(_hexcode_number(symbols, 2 + 2 * ((resolution - 2) // 3)), (resolution - 2) % 3 + 1))
  END;

-- The code of the H3 ancestor within the same province; NULL for a finer resolution than the code's.
CREATE OR REPLACE MACRO hexcode_parent(code, resolution) AS
  [[CASE WHEN resolution BETWEEN 0 AND _hexcode_level(symbols)
    THEN _hexcode_checked(_hexcode_admin(canonical), _hexcode_ancestor(symbols, resolution))
  END for symbols in [_hexcode_symbols(canonical)]][1] for canonical in [hexcode_canonical(code)]][1];

-- The codes of a cell and of all its descendants within the same province stand from here: the code without its check …
CREATE OR REPLACE MACRO hexcode_from(code) AS rtrim(left(hexcode_canonical(code), -1), '-');

-- … to here, which is none of them: beyond the last pair that begins with the cell's digits.
CREATE OR REPLACE MACRO _hexcode_end(admin, symbols, number) AS
  CASE WHEN number < 400 THEN _hexcode_text(admin, symbols || _hexcode_pair(number)) ELSE _hexcode_text(admin, symbols) || 'Y' END;
CREATE OR REPLACE MACRO _hexcode_to(admin, symbols, level) AS
  CASE
    WHEN level = 0 THEN admin || '-' || CASE left(symbols, 1) WHEN '2' THEN '8' WHEN '8' THEN 'H' ELSE 'Q' END
    WHEN level % 3 = 1 THEN _hexcode_text(admin, left(symbols, -1)) || 'Y'
    ELSE [_hexcode_end(admin, left(symbols, -3), number)
      for number in [_hexcode_number(symbols, length(symbols) - 2) + CASE level % 3 WHEN 2 THEN 57 ELSE 8 END]][1]
  END;
CREATE OR REPLACE MACRO hexcode_to(code) AS
  [[_hexcode_to(_hexcode_admin(canonical), symbols, _hexcode_level(symbols))
  for symbols in [_hexcode_symbols(canonical)]][1] for canonical in [hexcode_canonical(code)]][1];

-- Whether a canonical code is that of a cell or of one of its descendants, also where a column mixes resolutions.
CREATE OR REPLACE MACRO hexcode_is_within(canonical, cell) AS
  canonical >= hexcode_from(cell) AND canonical < hexcode_to(cell) AND length(canonical) > length(hexcode_from(cell));
