-- Hexcodes in plain SQL, for PostgreSQL 13 and later with UTF-8: functions without an extension, after docs/code-format.md
-- (format 1). Run this file once in a database, in the schema that is to have them. docs/sql/README.md says how to use it; names
-- with a leading _ are its own business. All functions are immutable: they may stand in constraints and indexes.

-- The name of a province; NULL for letters that are no admin code.
CREATE OR REPLACE FUNCTION _hexcode_province(admin text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE admin
    WHEN 'TQ' THEN 'Tuyên Quang' WHEN 'CB' THEN 'Cao Bằng' WHEN 'LCU' THEN 'Lai Châu'
    WHEN 'LCI' THEN 'Lào Cai' WHEN 'TN' THEN 'Thái Nguyên' WHEN 'DB' THEN 'Điện Biên'
    WHEN 'LS' THEN 'Lạng Sơn' WHEN 'SL' THEN 'Sơn La' WHEN 'PT' THEN 'Phú Thọ' WHEN 'BN' THEN 'Bắc Ninh'
    WHEN 'QNH' THEN 'Quảng Ninh' WHEN 'HN' THEN 'Hà Nội' WHEN 'HP' THEN 'Hải Phòng' WHEN 'HY' THEN 'Hưng Yên'
    WHEN 'NB' THEN 'Ninh Bình' WHEN 'TH' THEN 'Thanh Hóa' WHEN 'NA' THEN 'Nghệ An' WHEN 'HT' THEN 'Hà Tĩnh'
    WHEN 'QT' THEN 'Quảng Trị' WHEN 'HUE' THEN 'Huế' WHEN 'DNG' THEN 'Đà Nẵng' WHEN 'QNG' THEN 'Quảng Ngãi'
    WHEN 'GL' THEN 'Gia Lai' WHEN 'DLK' THEN 'Đắk Lắk' WHEN 'KH' THEN 'Khánh Hòa' WHEN 'LD' THEN 'Lâm Đồng'
    WHEN 'DN' THEN 'Đồng Nai' WHEN 'TNH' THEN 'Tây Ninh' WHEN 'HCM' THEN 'TP. Hồ Chí Minh'
    WHEN 'DT' THEN 'Đồng Tháp' WHEN 'AG' THEN 'An Giang' WHEN 'VL' THEN 'Vĩnh Long' WHEN 'CT' THEN 'Cần Thơ'
    WHEN 'CM' THEN 'Cà Mau'
  END
$$;

-- Values of symbols, 0 to 19, and back.
CREATE OR REPLACE FUNCTION _hexcode_value(symbol text) RETURNS int
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT strpos('23456789CFGHJKMPQRVX', symbol) - 1 $$;
CREATE OR REPLACE FUNCTION _hexcode_symbol(value int) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT substr('23456789CFGHJKMPQRVX', value + 1, 1) $$;

-- Head and pairs, with or without the check, in groups of five after the admin code.
CREATE OR REPLACE FUNCTION _hexcode_text(admin text, symbols text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT admin || '-' || regexp_replace(symbols, '(.{5})(?=.)', '\1-', 'g')
$$;

-- The check of an admin code, head and pairs.
CREATE OR REPLACE FUNCTION _hexcode_check(admin text, symbols text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
DECLARE
  times_alpha constant int[] := ARRAY[0, 2, 3, 1];
  p int := 0;
  q int := 0;
  value int;
BEGIN
  FOR i IN 1 .. length(admin) + length(symbols) LOOP
    IF i <= length(admin) THEN
      value := (ascii(substr(admin, i, 1)) - 65) % 20;
    ELSE
      value := _hexcode_value(substr(symbols, i - length(admin), 1));
    END IF;
    p := times_alpha[p + 1] # (value % 4);
    q := (2 * q + value) % 5;
  END LOOP;
  RETURN _hexcode_symbol((5 * times_alpha[p + 1] + 16 * ((5 - 2 * q % 5) % 5)) % 20);
END
$$;

-- The number of the pair whose first symbol has this index, from 1, in head, pairs and check.
CREATE OR REPLACE FUNCTION _hexcode_number(symbols text, first int) RETURNS int
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
  SELECT 20 * _hexcode_value(substr(symbols, first, 1)) + _hexcode_value(substr(symbols, first + 1, 1))
$$;

-- How many H3 digits a pair has: the depths of a tree of seven children in pre-order, 0 for the pair that is not used.
CREATE OR REPLACE FUNCTION _hexcode_depth(number int) RETURNS int
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT substr('0' || repeat('1' || repeat('2' || repeat('3', 7), 7), 7), number + 1, 1)::int
$$;

-- A text as people spell it: capital letters without marks, digits, and - for every separator.
CREATE OR REPLACE FUNCTION _hexcode_spelling(code text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN code ~ '^[A-Z2-9-]*$' THEN code ELSE regexp_replace(regexp_replace(
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
    '[\u0300-\u036F]', '', 'g'),
    '[\u0009-\u000D ._\u00A0\u00AD\u2000-\u2015\u202F\u205F\u2060\u2212\u3000\uFEFF]', '-', 'g') END
$$;

-- The canonical text of a code in any spelling; NULL where the text is no hexcode.
CREATE OR REPLACE FUNCTION hexcode_canonical(code text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
DECLARE
  spelt text;
  bare text;
  admin text;
  symbols text;
  depths text := '';
BEGIN
  IF length(code) > 64 THEN
    RETURN NULL;
  END IF;
  spelt := ltrim(_hexcode_spelling(code), '-');
  bare := replace(spelt, '-', '');
  IF bare !~ '^[A-Z2-9]{4,15}$' THEN
    RETURN NULL;
  END IF;
  admin := left(bare, 2 + length(bare) % 2);
  symbols := substr(bare, 3 + length(bare) % 2);
  -- A first separator after two or three characters says that these are the whole admin code.
  IF strpos(spelt, '-') IN (3, 4) AND strpos(spelt, '-') <> length(admin) + 1 THEN
    RETURN NULL;
  END IF;
  IF _hexcode_province(admin) IS NULL OR symbols !~ '^[23456789CFGHJKMP][23456789CFGHJKMPQRVX]{1,11}$' THEN
    RETURN NULL;
  END IF;
  FOR i IN 1 .. length(symbols) / 2 - 1 LOOP
    depths := depths || _hexcode_depth(_hexcode_number(symbols, 2 * i));
  END LOOP;
  IF depths !~ '^3{0,4}[12]?$' OR (depths <> '' AND left(symbols, 1) IN ('2', '8', 'H')) THEN
    RETURN NULL;
  END IF;
  IF right(symbols, 1) <> _hexcode_check(admin, left(symbols, -1)) THEN
    RETURN NULL;
  END IF;
  RETURN _hexcode_text(admin, symbols);
END
$$;

-- Whether a text is a hexcode, in any spelling.
CREATE OR REPLACE FUNCTION hexcode_is_valid(code text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$ SELECT hexcode_canonical(code) IS NOT NULL $$;

-- Of a code in any spelling: letters and name of its province. NULL where the text is no hexcode.
CREATE OR REPLACE FUNCTION hexcode_admin_code(code text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$ SELECT split_part(hexcode_canonical(code), '-', 1) $$;
CREATE OR REPLACE FUNCTION hexcode_province(code text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$ SELECT _hexcode_province(hexcode_admin_code(code)) $$;

-- Head, pairs and check of a canonical text, and the resolution that they have.
CREATE OR REPLACE FUNCTION _hexcode_symbols(canonical text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT replace(substr(canonical, strpos(canonical, '-') + 1), '-', '') $$;
CREATE OR REPLACE FUNCTION _hexcode_level(symbols text) RETURNS int
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
  SELECT CASE WHEN length(symbols) > 2
    THEN 3 * (length(symbols) / 2) - 5 + _hexcode_depth(_hexcode_number(symbols, length(symbols) - 2))
    WHEN left(symbols, 1) IN ('2', '8', 'H') THEN 0
    ELSE 1
  END
$$;

-- The resolution of a code's cell, 0 to 15.
CREATE OR REPLACE FUNCTION hexcode_resolution(code text) RETURNS int
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
  SELECT _hexcode_level(_hexcode_symbols(hexcode_canonical(code)))
$$;

-- The code of the H3 ancestor within the same province; NULL for a finer resolution than the code's.
CREATE OR REPLACE FUNCTION hexcode_parent(code text, resolution int) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
DECLARE
  canonical constant text := hexcode_canonical(code);
  symbols constant text := _hexcode_symbols(canonical);
  admin constant text := split_part(canonical, '-', 1);
  ancestor text;
  number int;
  whole int;
BEGIN
  IF canonical IS NULL OR resolution NOT BETWEEN 0 AND _hexcode_level(symbols) THEN
    RETURN NULL;
  END IF;
  IF resolution = 0 THEN
    ancestor := CASE WHEN strpos('234567', left(symbols, 1)) > 0 THEN '2'
      WHEN strpos('89CFG', left(symbols, 1)) > 0 THEN '8' ELSE 'H' END;
  ELSIF resolution = 1 THEN
    ancestor := left(symbols, 1);
  ELSE
    whole := 1 + 2 * ((resolution - 2) / 3);
    number := _hexcode_number(symbols, whole + 1);
    number := number - CASE (resolution - 2) % 3 WHEN 0 THEN (number - 1) % 57 WHEN 1 THEN ((number - 1) % 57 - 1) % 8 ELSE 0 END;
    ancestor := left(symbols, whole) || _hexcode_symbol(number / 20) || _hexcode_symbol(number % 20);
  END IF;
  RETURN _hexcode_text(admin, ancestor || _hexcode_check(admin, ancestor));
END
$$;

-- The codes of a cell and of all its descendants within the same province stand from here …
CREATE OR REPLACE FUNCTION hexcode_from(code text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
  SELECT _hexcode_text(hexcode_admin_code(code), left(_hexcode_symbols(hexcode_canonical(code)), -1))
$$;

-- … to here, which is none of them: beyond the last pair that begins with the cell's digits.
CREATE OR REPLACE FUNCTION hexcode_to(code text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
DECLARE
  canonical constant text := hexcode_canonical(code);
  symbols constant text := _hexcode_symbols(canonical);
  admin constant text := split_part(canonical, '-', 1);
  level constant int := _hexcode_level(symbols);
  beyond int;
BEGIN
  IF canonical IS NULL THEN
    RETURN NULL;
  ELSIF level = 0 THEN
    RETURN admin || '-' || CASE left(symbols, 1) WHEN '2' THEN '8' WHEN '8' THEN 'H' ELSE 'Q' END;
  ELSIF level % 3 = 1 THEN
    RETURN _hexcode_text(admin, left(symbols, -1)) || 'Y';
  END IF;
  beyond := _hexcode_number(symbols, length(symbols) - 2) + CASE level % 3 WHEN 2 THEN 57 ELSE 8 END;
  IF beyond >= 400 THEN
    RETURN _hexcode_text(admin, left(symbols, -3)) || 'Y';
  END IF;
  RETURN _hexcode_text(admin, left(symbols, -3) || _hexcode_symbol(beyond / 20) || _hexcode_symbol(beyond % 20));
END
$$;

-- Whether a canonical code is that of a cell or of one of its descendants, also where a column mixes resolutions. Without settings of
-- its own, so that it is inlined and an index is used.
CREATE OR REPLACE FUNCTION hexcode_is_within(canonical text, cell text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT canonical >= hexcode_from(cell) AND canonical < hexcode_to(cell) AND length(canonical) > length(hexcode_from(cell))
$$;
