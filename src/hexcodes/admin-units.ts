// The 34 provinces of Viet Nam since 2025. Their order is part of the formats: the index in this list, from 0, is the
// admin number in cells answers, reach masks and the boundary index.

export interface AdminUnit {
  /** Two or three letters: the start of every hexcode of the province, `admin_code` in answers. */
  readonly code: string;
  /** The province or city as written in Vietnamese. */
  readonly name: string;
  /** The provinces and cities that became this one in 2025: itself alone where nothing was merged. */
  readonly mergedUnits: readonly string[];
}

/** Freezes a table that callers are given, with everything in it. */
export function frozen<T>(table: T): T {
  if (typeof table === 'object' && table !== null) for (const each of Object.values(table)) frozen(each);
  return Object.freeze(table);
}

export const ADMIN_UNITS: readonly AdminUnit[] = frozen([
  { code: 'TQ', name: 'Tuyên Quang', mergedUnits: ['Hà Giang', 'Tuyên Quang'] },
  { code: 'CB', name: 'Cao Bằng', mergedUnits: ['Cao Bằng'] },
  { code: 'LCU', name: 'Lai Châu', mergedUnits: ['Lai Châu'] },
  { code: 'LCI', name: 'Lào Cai', mergedUnits: ['Lào Cai', 'Yên Bái'] },
  { code: 'TN', name: 'Thái Nguyên', mergedUnits: ['Bắc Kạn', 'Thái Nguyên'] },
  { code: 'DB', name: 'Điện Biên', mergedUnits: ['Điện Biên'] },
  { code: 'LS', name: 'Lạng Sơn', mergedUnits: ['Lạng Sơn'] },
  { code: 'SL', name: 'Sơn La', mergedUnits: ['Sơn La'] },
  { code: 'PT', name: 'Phú Thọ', mergedUnits: ['Hòa Bình', 'Vĩnh Phúc', 'Phú Thọ'] },
  { code: 'BN', name: 'Bắc Ninh', mergedUnits: ['Bắc Giang', 'Bắc Ninh'] },
  { code: 'QNH', name: 'Quảng Ninh', mergedUnits: ['Quảng Ninh'] },
  { code: 'HN', name: 'Hà Nội', mergedUnits: ['Hà Nội'] },
  { code: 'HP', name: 'Hải Phòng', mergedUnits: ['Hải Dương', 'Hải Phòng'] },
  { code: 'HY', name: 'Hưng Yên', mergedUnits: ['Thái Bình', 'Hưng Yên'] },
  { code: 'NB', name: 'Ninh Bình', mergedUnits: ['Hà Nam', 'Ninh Bình', 'Nam Định'] },
  { code: 'TH', name: 'Thanh Hóa', mergedUnits: ['Thanh Hóa'] },
  { code: 'NA', name: 'Nghệ An', mergedUnits: ['Nghệ An'] },
  { code: 'HT', name: 'Hà Tĩnh', mergedUnits: ['Hà Tĩnh'] },
  { code: 'QT', name: 'Quảng Trị', mergedUnits: ['Quảng Bình', 'Quảng Trị'] },
  { code: 'HUE', name: 'Huế', mergedUnits: ['Huế'] },
  { code: 'DNG', name: 'Đà Nẵng', mergedUnits: ['Quảng Nam', 'Đà Nẵng'] },
  { code: 'QNG', name: 'Quảng Ngãi', mergedUnits: ['Quảng Ngãi', 'Kon Tum'] },
  { code: 'GL', name: 'Gia Lai', mergedUnits: ['Gia Lai', 'Bình Định'] },
  { code: 'DLK', name: 'Đắk Lắk', mergedUnits: ['Phú Yên', 'Đắk Lắk'] },
  { code: 'KH', name: 'Khánh Hòa', mergedUnits: ['Khánh Hòa', 'Ninh Thuận'] },
  { code: 'LD', name: 'Lâm Đồng', mergedUnits: ['Đắk Nông', 'Lâm Đồng', 'Bình Thuận'] },
  { code: 'DN', name: 'Đồng Nai', mergedUnits: ['Bình Phước', 'Đồng Nai'] },
  { code: 'TNH', name: 'Tây Ninh', mergedUnits: ['Long An', 'Tây Ninh'] },
  { code: 'HCM', name: 'TP. Hồ Chí Minh', mergedUnits: ['Bình Dương', 'TP.HCM', 'Bà Rịa - Vũng Tàu'] },
  { code: 'DT', name: 'Đồng Tháp', mergedUnits: ['Tiền Giang', 'Đồng Tháp'] },
  { code: 'AG', name: 'An Giang', mergedUnits: ['Kiên Giang', 'An Giang'] },
  { code: 'VL', name: 'Vĩnh Long', mergedUnits: ['Bến Tre', 'Vĩnh Long', 'Trà Vinh'] },
  { code: 'CT', name: 'Cần Thơ', mergedUnits: ['Sóc Trăng', 'Hậu Giang', 'Cần Thơ'] },
  { code: 'CM', name: 'Cà Mau', mergedUnits: ['Bạc Liêu', 'Cà Mau'] },
]);
