// Every text of the console in both languages. A key that one of them lacks does not compile. {names} are filled in by `say`.

import { workEn, workVi } from './work-texts.js';

const vi = {
  ...workVi,
  api: 'API',
  links: 'Liên kết',
  desk: 'Tra cứu',
  map: 'Bản đồ',
  panels: 'Công cụ',
  codeLabel: 'Mã hoặc tọa độ',
  codeHint: 'Gõ hoặc dán mã hay tọa độ, viết cách nào cũng được.',
  find: 'Tìm',
  place: 'Vị trí',
  language: 'English',
  languageLabel: 'Switch to English',
  theme: 'Sáng hay tối',
  welcome: 'Chạm vào bản đồ, hoặc dán một mã.',
  welcomeMore:
    'Mỗi ô lục giác ở Việt Nam có một mã ngắn. Gõ sai một ký tự, mã sẽ bị phát hiện; các ô gần nhau có mã bắt đầu giống nhau.',
  examples: 'Thử xem',
  unreadable: 'Đây không phải là mã hay tọa độ.',
  didYouMean: 'Có phải bạn muốn nói',
  away: 'cách {km} km',
  outside: 'Vị trí này nằm ngoài các tỉnh và vùng biển ven bờ của Việt Nam.',
  province: 'Tỉnh, thành phố',
  position: 'Tọa độ',
  cellSize: 'Cỡ ô',
  failed: 'Không tải được dữ liệu. Hãy tải lại trang.',
} as const;

export type TextKey = keyof typeof vi;

const en: Readonly<Record<TextKey, string>> = {
  ...workEn,
  api: 'API',
  links: 'Links',
  desk: 'Look up',
  map: 'Map',
  panels: 'Tools',
  codeLabel: 'Code or position',
  codeHint: 'Type or paste a code or a position, in any spelling.',
  find: 'Find',
  place: 'Place',
  language: 'Tiếng Việt',
  languageLabel: 'Chuyển sang tiếng Việt',
  theme: 'Light or dark',
  welcome: 'Click the map, or paste a code.',
  welcomeMore:
    'Every hexagon of Viet Nam has a short code. A code with a wrong character is noticed; codes of places near each other begin alike.',
  examples: 'Try one',
  unreadable: 'This is neither a code nor a position.',
  didYouMean: 'Did you mean',
  away: '{km} km away',
  outside: 'This position lies in no province of Viet Nam nor in its coastal sea.',
  province: 'Province',
  position: 'Position',
  cellSize: 'Cell size',
  failed: 'The data could not be loaded. Reload the page.',
};

export const TEXTS = { vi, en };
