// The texts about how sure a province is, in both languages.

export const certaintyVi = {
  certainty: 'Chắc đúng tỉnh',
  farFromBorder: 'cách ranh giới tỉnh hơn 5 km',
  nearBorder: 'cách ranh giới tỉnh khoảng {distance}',
  mayBe: 'có thể thuộc {name} ({code})',
  rightShare: '{percent} vị trí như vậy có mã đúng tỉnh',
  howSure: 'Tỉnh trong mã chắc đến đâu?',
  bordersOf: 'Ranh giới là của {source}, dữ liệu đến năm {year}.',
  toBorder: 'Cách ranh giới tỉnh',
  rightProvince: 'Đúng tỉnh',
  below: 'dưới {metres} m',
  beyond: 'xa hơn',
  wrongProvince: 'Mã mang nhầm tỉnh bên cạnh vẫn chỉ đúng ô ấy: giải mã cho cùng một vị trí.',
} as const;

export const certaintyEn: Readonly<Record<keyof typeof certaintyVi, string>> = {
  certainty: 'Right province',
  farFromBorder: 'more than 5 km from a border between provinces',
  nearBorder: 'about {distance} from a border between provinces',
  mayBe: 'may be in {name} ({code})',
  rightShare: '{percent} of such positions have the right province',
  howSure: 'How sure is the province of a code?',
  bordersOf: 'The borders are those of {source}, with data up to {year}.',
  toBorder: 'From a border between provinces',
  rightProvince: 'Right province',
  below: 'below {metres} m',
  beyond: 'farther',
  wrongProvince:
    'A code with the province next door still names the same cell: it decodes to the same position.',
};
