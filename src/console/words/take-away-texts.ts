// Texts of printing and saving, loaded with that code.

export const takeAwayTexts = {
  gridNeedsMap: ['Bản đồ chưa sẵn sàng.', 'The map is not ready yet.'],
  gridTitle: ['Lưới ô đang hiển thị', 'Grid of this view'],
  gridHint: [
    'Các ô lục giác đang thấy trên bản đồ, kèm mã, dạng GeoJSON.',
    'The hexagons that the map shows, with their codes, as GeoJSON.',
  ],
  gridResolution: ['Bậc của lưới', 'Resolution of the grid'],
  gridAsMap: ['như trên bản đồ', 'as on the map'],
  gridDownload: ['Tải lưới', 'Download the grid'],
  gridProgress: ['Đang làm: {percent}%', 'Under way: {percent}%'],
  gridDone: [
    'Đã lưu {cells} ô ở bậc {resolution}.',
    '{cells} hexagons of resolution {resolution} are saved.',
  ],
  gridTooMany: [
    'Khung nhìn có khoảng {cells} ô ở bậc {resolution}; nhiều nhất là {most}. Hãy phóng to hoặc chọn bậc nhỏ hơn.',
    'This view has about {cells} hexagons of resolution {resolution}; {most} is the most. Zoom in, or choose a coarser resolution.',
  ],
  printNeedsPlace: [
    'Chọn một vị trí để in bản đồ ô và biển gắn cổng.',
    'Choose a place to print its sheet and its doorplate.',
  ],
  printTitle: ['In {code}', 'Print {code}'],
  sheet: ['Bản đồ ô khổ A4', 'A4 sheet'],
  sheetHint: [
    'Một tờ A4 có các ô xung quanh, mã của chúng và mã QR.',
    'An A4 sheet with the hexagons around, their codes and a QR code.',
  ],
  sheetOf: ['Bản đồ ô quanh {code}', 'Sheet of the hexagons around {code}'],
  sheetWhole: ['Mỗi ô mang trọn mã của nó.', 'Every hexagon has its whole code.'],
  sheetShared: [
    'Mọi mã bắt đầu bằng {groups} rồi đến phần ghi trong ô.',
    'Every code begins with {groups} and ends as its hexagon says.',
  ],
  sheetCells: [
    'Mỗi ô rộng chừng {metres} m. Phía trên là hướng bắc.',
    'Each hexagon is some {metres} m wide. North is up.',
  ],
  sheetCredit: [
    'Ranh giới: © OpenStreetMap contributors, ODbL 1.0. Lưới: H3.',
    'Boundaries: © OpenStreetMap contributors, ODbL 1.0. Grid: H3.',
  ],
  doorplate: ['Biển gắn cổng', 'Doorplate'],
  doorplateLine: ['Dòng chữ trên biển (tên, số nhà)', 'Line on the doorplate (name, house number)'],
  doorplateOf: ['Biển gắn cổng {code}', 'Doorplate of {code}'],
  doorplateHint: ['Quét mã QR, hoặc gõ mã này tại', 'Scan the QR code, or type this code at'],
  preview: ['Xem trước khi in', 'Preview'],
  qrLocal: [
    'Mã QR này chứa địa chỉ {host}: điện thoại khác sẽ không mở được. Hãy mở trang bằng địa chỉ chung rồi in.',
    'This QR code holds the address {host}, which no other phone can open. Open the page by its public address to print.',
  ],
  print: ['In', 'Print'],
  save: ['Lưu', 'Save'],
  close: ['Đóng', 'Close'],
} as const;
