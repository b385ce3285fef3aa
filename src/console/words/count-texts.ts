// The texts of the counts by hexagon and of the switch of layers, which come with them.

export const countTexts = {
  countsTitle: ['Số điểm trong mỗi ô lục giác', 'Points in each hexagon'],
  clearPoints: ['Xóa {points} điểm', 'Clear {points} points'],
  uncounted: ['Không đếm vì không có mã: {points} điểm.', 'Not counted, as they have no code: {points}.'],
  countOf: ['{points} điểm trong ô {code}', '{points} points in {code}'],
  countMore: ['và {points} điểm nữa', 'and {points} more'],
  closeRows: ['Đóng danh sách', 'Close the list'],
  layerGrid: ['Lưới ô', 'Grid'],
  layerCodes: ['Mã trong ô', 'Codes'],
  layerPoints: ['Điểm', 'Points'],
  layerCounts: ['Số điểm theo ô', 'Counts by hexagon'],
  layerStreets: ['Bản đồ nền', 'Streets'],
} as const;
