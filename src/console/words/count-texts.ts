// The texts of the counts by hexagon and of the switch of layers, which come with them.

export const countVi = {
  countsTitle: 'Số điểm trong mỗi ô lục giác',
  clearPoints: 'Xóa {points} điểm',
  uncounted: 'Không đếm vì không có mã: {points} điểm.',
  countOf: '{points} điểm trong ô {code}',
  countMore: 'và {points} điểm nữa',
  closeRows: 'Đóng danh sách',
  layerGrid: 'Lưới ô',
  layerCodes: 'Mã trong ô',
  layerPoints: 'Điểm',
  layerCounts: 'Số điểm theo ô',
  layerStreets: 'Bản đồ nền',
} as const;

export const countEn: Readonly<Record<keyof typeof countVi, string>> = {
  countsTitle: 'Points in each hexagon',
  clearPoints: 'Clear {points} points',
  uncounted: 'Not counted, as they have no code: {points}.',
  countOf: '{points} points in {code}',
  countMore: 'and {points} more',
  closeRows: 'Close the list',
  layerGrid: 'Grid',
  layerCodes: 'Codes',
  layerPoints: 'Points',
  layerCounts: 'Counts by hexagon',
  layerStreets: 'Streets',
};
