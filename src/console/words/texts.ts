// Every text of the console in both languages. A key without a text of either does not compile. {names} are filled in
// by `say`.
import type { countTexts } from './count-texts.js';
import type { explainTexts } from './explain-texts.js';
import type { fileTexts } from './file-texts.js';
import type { fleetTexts } from './fleet-texts.js';
import type { takeAwayTexts } from './take-away-texts.js';
import type { zoneTexts } from './zone-texts.js';

/** Texts that come with their panel. */
type LaterTexts = typeof countTexts &
  typeof explainTexts &
  typeof fileTexts &
  typeof fleetTexts &
  typeof takeAwayTexts &
  typeof zoneTexts;

const first = {
  file: ['Tệp', 'File'],
  stop: ['Dừng', 'Stop'],
  loading: ['Đang tải…', 'Loading…'],
  zones: ['Vùng', 'Zones'],
  takeAway: ['In và lưu', 'Print'],
  // How sure a province is.
  certainty: ['Độ tin cậy của tỉnh', 'Confidence in the province'],
  farFromBorder: ['cách ranh giới tỉnh hơn 5 km', 'more than 5 km from a border between provinces'],
  nearBorder: ['cách ranh giới tỉnh khoảng {distance}', 'about {distance} from a border between provinces'],
  mayBe: ['có thể thuộc {name} ({code})', 'may be in {name} ({code})'],
  rightShare: ['{percent} vị trí như vậy đúng tỉnh', '{percent} of such positions have the correct province'],
  howSure: ['Mã tỉnh đáng tin đến đâu?', 'How sure is the province of a code?'],
  bordersOf: [
    'Ranh giới là của {source}, dữ liệu đến năm {year}.',
    'The borders are those of {source}, with data up to {year}.',
  ],
  toBorder: ['Cách ranh giới tỉnh', 'From a border between provinces'],
  rightProvince: ['Đúng tỉnh', 'Correct province'],
  below: ['dưới {metres} m', 'below {metres} m'],
  beyond: ['xa hơn', 'farther'],
  noSource: [
    'Không nguồn ranh giới nào đúng đến 100 m: hai bản chính thức chỉ trùng nhau ở 99,65% vị trí.',
    'No source of borders is good to 100 m: two editions of the official ones agree in 99.65% of positions.',
  ],
  wrongProvince: [
    'Mã mang nhầm tỉnh bên cạnh vẫn chỉ đúng ô ấy: giải mã cho cùng một vị trí.',
    'A code with the province next door still names the same cell: it decodes to the same position.',
  ],

  fleet: ['Đội xe', 'Fleet'],
  api: ['API', 'API'],
  links: ['Liên kết', 'Links'],
  desk: ['Tra cứu', 'Look up'],
  map: ['Bản đồ', 'Map'],
  panels: ['Công cụ', 'Tools'],
  codeLabel: ['Mã, tọa độ hoặc tên nơi', 'Code, position or name'],
  codeHint: [
    'Gõ hoặc dán mã, tọa độ, liên kết hay cả tin nhắn.',
    'Type or paste a code, a position, a link or a whole message.',
  ],
  find: ['Tìm', 'Find'],
  place: ['Vị trí', 'Place'],
  language: ['English', 'Tiếng Việt'],
  languageLabel: ['Switch to English', 'Chuyển sang tiếng Việt'],
  theme: ['Giao diện tối', 'Dark theme'],
  title: [
    'Hexcodes: mã vị trí cho mọi ngôi nhà ở Việt Nam',
    'Hexcodes: a location code for every home in Viet Nam',
  ],
  welcome: [
    'Mã vị trí cho mọi ngôi nhà ở Việt Nam: gõ sai là biết ngay, không cần mạng.',
    'A location code for every home in Viet Nam: typing errors are caught at once, without a network.',
  ],
  welcomeMore: [
    'Nhấn vào bản đồ để lấy mã của ngôi nhà ở đó, hoặc gõ mã, tọa độ, tên nơi vào ô trên.',
    'Click the map for the code of the house there, or type a code, a position or a name above.',
  ],
  howMade: ['Mã được ghép thế nào', 'How a code is made'],
  madeCell: ['ô cạnh {edge}', 'cell, edge {edge}'],
  madeFiner: ['ô nhỏ, cạnh {edge}', 'finer cell, edge {edge}'],
  madeCheck: ['ký tự kiểm tra', 'check symbol'],
  oneSlip: [
    'Gõ nhầm một ký tự thì không còn là mã: trang biết ngay và gợi ý mã đúng.',
    'With one wrong symbol it is no longer a code: the page knows at once, and suggests the right one.',
  ],
  trySlip: ['Thử gõ nhầm: {code}', 'Try a typing error: {code}'],
  examples: ['Thử xem', 'Try one'],
  isCountry: [
    'Việt Nam là cả nước: hãy gõ tên một tỉnh, thành phố hay thị xã.',
    'Viet Nam is the whole country: type the name of a province, city or town.',
  ],
  middleOfPlusCode: ['Đây là tâm ô của Plus Code.', 'This is the middle of the cell of the Plus Code.'],
  middleOfView: [
    'Liên kết này không có ghim: đây là giữa khung bản đồ. Hãy nhấn vào điểm cần tìm rồi chép lại liên kết.',
    'This link has no pin: here is the middle of its view. Click the point on the map, and copy the link again.',
  ],
  largeCell: [
    'Ô này cạnh {edge}. Hãy phóng to để lấy mã của một ngôi nhà.',
    'This hexagon has edges of {edge}. Zoom in for the code of a house.',
  ],
  several: ['Có nhiều nơi trong đoạn này. Hãy chọn một:', 'The text names several places. Choose one:'],
  suggestions: ['Gợi ý', 'Suggestions'],
  clearBox: ['Xóa ô nhập', 'Clear the box'],
  paste: ['Dán', 'Paste'],
  notPasted: [
    'Trình duyệt không cho dán. Hãy nhấn giữ ô nhập, rồi chọn Dán.',
    'The browser does not let the page paste. Hold the box, and choose Paste.',
  ],
  swapped: [
    'Đã hiểu số đầu là kinh độ, số sau là vĩ độ.',
    'The first number was taken for the longitude, the second for the latitude.',
  ],
  near: ['gần {name}', 'near {name}'],
  nearTown: ['gần {name}, {distance} về phía {direction}', 'near {name}, {distance} to the {direction}'],
  compassN: ['bắc', 'north'],
  compassNE: ['đông bắc', 'north-east'],
  compassE: ['đông', 'east'],
  compassSE: ['đông nam', 'south-east'],
  compassS: ['nam', 'south'],
  compassSW: ['tây nam', 'south-west'],
  compassW: ['tây', 'west'],
  compassNW: ['tây bắc', 'north-west'],
  kindProvince: ['tỉnh, thành phố', 'province'],
  kindFormer: ['tỉnh cũ, nay thuộc', 'former province, now in'],
  kindTown: ['đô thị', 'town'],
  kindLandmark: ['địa danh', 'landmark'],
  directions: ['Chỉ đường', 'Directions'],
  directionsApp: ['Ứng dụng bản đồ trên máy', 'Map app of this device'],
  share: ['Chia sẻ', 'Share'],
  copyPosition: ['Tọa độ', 'Position'],
  recentCodes: ['Mã đã xem', 'Recent codes'],
  removeCode: ['Bỏ {code} khỏi danh sách', 'Remove {code} from the list'],
  removeAll: ['Xóa danh sách này', 'Clear this list'],
  outside: [
    'Vị trí này nằm ngoài các tỉnh và vùng biển ven bờ của Việt Nam.',
    'This position lies in no province of Viet Nam nor in its coastal sea.',
  ],
  province: ['Tỉnh, thành phố', 'Province'],
  position: ['Tọa độ', 'Position'],
  exactness: ['Độ chính xác', 'Accuracy'],
  within: ['cách tâm ô không quá {distance}', 'within {distance} of the middle'],
  cellSize: ['Cỡ ô', 'Cell size'],
  sizeOf: ['Bậc {resolution}, cạnh {edge}', 'Resolution {resolution}, edge {edge}'],
  rings: ['Vòng ô xung quanh', 'Rings around'],
  noRings: ['chỉ ô này', 'this cell alone'],
  ringsOf: ['{cells} ô, {rings} vòng', '{cells} cells, {rings} deep'],
  copyRings: ['Sao chép mã của các ô này', 'Copy the codes of these cells'],
  allSizes: ['Mã ở mọi cỡ ô', 'Codes at every size'],
  neighbors: ['Các ô bên cạnh', 'Neighbouring cells'],
  spell: ['Đọc mã qua điện thoại', 'The code over the telephone'],
  readAloud: ['Đọc thành tiếng', 'Read aloud'],
  copySpelling: ['Sao chép cách đọc', 'Copy the spelling'],
  noVoice: ['Thiết bị này không có giọng đọc tiếng Việt.', 'This device has no voice that reads English.'],
  provinces: ['34 tỉnh, thành phố và mã', 'The 34 provinces and their codes'],
  copyAs: ['Sao chép dạng khác', 'Copy as'],
  copyCode: ['Sao chép mã', 'Copy code'],
  copyLink: ['Sao chép liên kết', 'Copy link'],
  copyH3: ['Chỉ số H3', 'H3 index'],
  copyGeoJson: ['GeoJSON', 'GeoJSON'],
  copied: ['Đã sao chép.', 'Copied.'],
  notCopied: ['Trình duyệt không cho sao chép.', 'The browser does not allow copying.'],
  myPosition: ['Vị trí của tôi', 'My position'],
  stopWatching: ['Ngừng theo dõi vị trí', 'Stop following'],
  positionWanted: ['Đang chờ thiết bị cho biết vị trí…', 'Waiting for the device to say where it is…'],
  watching: [
    'Đang theo dõi; vị trí sai số tới {distance}.',
    'Following; the position may be {distance} off.',
  ],
  measured: ['thiết bị đo sai số tới {distance}', 'the device may be {distance} off'],
  positionDenied: [
    'Bạn chưa cho phép trang này xem vị trí.',
    'You have not allowed this page to see your position.',
  ],
  positionUnknown: ['Thiết bị không biết vị trí hiện tại.', 'The device does not know where it is.'],
  layers: ['Lớp', 'Layers'],
  parentCell: ['ô lớn hơn: {code}', 'larger cell: {code}'],
  zoomIn: ['Phóng to', 'Zoom in'],
  zoomOut: ['Thu nhỏ', 'Zoom out'],
  wholeCountry: ['Cả nước', 'Whole country'],
  mapHint: [
    'Phím mũi tên di chuyển, + và − thay đổi tỉ lệ, Enter chọn ô ở giữa bản đồ.',
    'Arrow keys move the map, + and − zoom, Enter chooses the cell in its middle.',
  ],
  basemapFailed: ['Không tải được bản đồ nền.', 'The background map could not be loaded.'],
  noWebgl: [
    'Trình duyệt này không có WebGL 2: bản đồ được vẽ đơn giản.',
    'This browser has no WebGL 2: the map is a plain drawing.',
  ],
  hoangSa: ['Quần đảo Hoàng Sa', 'Hoàng Sa (Paracel Islands)'],
  truongSa: ['Quần đảo Trường Sa', 'Trường Sa (Spratly Islands)'],
  eastSea: ['Biển Đông', 'East Sea'],
  failed: ['Không tải được dữ liệu.', 'The data could not be loaded.'],
  retry: ['Thử lại', 'Try again'],
  newVersion: ['Đã có phiên bản mới.', 'A new version is available.'],
  reload: ['Tải lại trang', 'Reload the page'],
  expand: ['Chiều cao của bảng', 'Height of the sheet'],
} as const;

export type TextKey = keyof typeof first | keyof LaterTexts;
type Texts = Record<TextKey, readonly [vi: string, en: string]>;

export const TEXTS = first as Texts;

/** Adds texts that come with a part of the page. */
export const addTexts = (more: Partial<Texts>): void => void Object.assign(TEXTS, more);
