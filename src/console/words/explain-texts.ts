// The texts about what is not a code, position or name, which come with the first of them.

export const explainTexts = {
  unreadable: [
    'Đây không phải là mã, tọa độ hay tên nơi nào trong danh sách.',
    'This is neither a code nor a position, nor a name in the list.',
  ],
  isPlusCode: [
    'Đây có vẻ là Plus Code rút gọn. Hãy nhập kèm tên nơi, ví dụ “2VH3+GX Hoàn Kiếm”, hoặc Plus Code đầy đủ.',
    'This looks like a short Plus Code. Type its town, too, as in “2VH3+GX Hoàn Kiếm”, or the whole code.',
  ],
  isThreeWords: [
    'Đây là địa chỉ ba từ của what3words. Hãy mở nó ở đó rồi dán tọa độ vào đây.',
    'These are three words of what3words. Open them there, and paste the position here.',
  ],
  isLink: [
    'Liên kết này không chứa vị trí (có thể là liên kết rút gọn). Hãy mở nó, rồi dán địa chỉ đầy đủ hoặc tọa độ vào đây.',
    'No position stands in this link (it may be a shortened one). Open it, and paste the whole address or the position here.',
  ],
  isMetres: [
    "Tọa độ tính bằng mét cần ghi rõ hệ: “48Q 588702 2325601” (UTM) hoặc “VN-2000 105°45' 2325601 588702” (kinh tuyến trục).",
    "Metres need their system: “48Q 588702 2325601” (UTM) or “VN-2000 105°45' 2325601 588702” (central meridian).",
  ],
  isPhone: [
    'Đây có vẻ là số điện thoại. Hãy dán mã hoặc tọa độ.',
    'This looks like a telephone number. Paste a code or a position.',
  ],
  isUnclearS: [
    'Chữ S ở đây có thể là giây hoặc vĩ độ nam. Hãy viết giây là 46", rồi N hoặc S.',
    'The S may be seconds or south. Write seconds as 46", then N or S.',
  ],
  isPartOfCode: [
    'Đây có vẻ chỉ là một phần của mã. Mã đầy đủ như HN-6GHP4-83RFR. Hãy dời bản đồ đến gần nơi đó rồi thử lại.',
    'This looks like part of a code: a whole one is like HN-6GHP4-83RFR. Or move the map near the place, and try again.',
  ],
  isAddress: [
    'Trang này không tra được số nhà hay tên đường, chỉ biết tên tỉnh và khu vực. Hãy đến gần đó, rồi nhấn vào ngôi nhà trên bản đồ.',
    'This page knows provinces and towns, but no streets or house numbers. Move the map there, and click the house.',
  ],
  didYouMean: ['Có phải bạn muốn tìm', 'Did you mean'],
  away: ['cách giữa bản đồ {distance}', '{distance} from the middle of the map'],
} as const;
