// The texts of the panel of the fleet, which come with it.

export const fleetTexts = {
  fleetTitle: ['Chạy thử đội xe', 'A fleet, live'],
  fleetHint: [
    'Gửi vị trí của những chiếc xe mô phỏng qua luồng của máy chủ này bằng khóa của bạn. Chúng chạy nhanh gấp 4 lần xe thật, trên lưới đường tưởng tượng. Mọi con số đều đếm từ câu trả lời của máy chủ.',
    'Sends the positions of simulated vehicles over the stream of this service, with your key. They drive four times as fast as real ones, on streets that are made up. Every figure is counted from answers of the service.',
  ],
  fleetHintHere: [
    'Trang này không có máy chủ: một bản của bộ mã hóa chạy trong trình duyệt này trả lời vị trí của những chiếc xe mô phỏng. Chúng chạy nhanh gấp 4 lần xe thật, trên lưới đường tưởng tượng. Mọi con số đều đếm từ câu trả lời của nó.',
    'This page has no service: a copy of the encoder in this browser answers the positions of simulated vehicles. They drive four times as fast as real ones, on streets that are made up. Every figure is counted from its answers.',
  ],
  fleetKey: ['Khóa API (quyền bulk)', 'API key (scope bulk)'],
  fleetCity: ['Thành phố', 'City'],
  fleetVehicles: ['Số xe', 'Vehicles'],
  fleetReports: ['Vị trí mỗi giây', 'Reports a second'],
  fleetSeconds: ['Thời gian', 'Time'],
  fleetCost: [
    'Dùng tối đa {points} điểm trong hạn mức của khóa.',
    'Uses at most {points} points of the quota of the key.',
  ],
  fleetStart: ['Cho xe chạy', 'Let them drive'],
  fleetOpening: ['Đang mở luồng…', 'Opening the stream…'],
  fleetRunning: ['Đang chạy, còn {seconds} giây.', 'Running, {seconds} s left.'],
  fleetLost: [
    'Mất kết nối với máy chủ; đang thử lại, còn {seconds} giây.',
    'The connection to the service is lost; trying again, {seconds} s left.',
  ],
  fleetEnded: ['Đã dừng. {points} vị trí đã có câu trả lời.', 'Stopped. {points} positions were answered.'],
  fleetDenied: [
    'Máy chủ không nhận khóa này: hãy kiểm tra lại; khóa phải có quyền bulk.',
    'The service refuses this key: check it. It needs the scope bulk.',
  ],
  fleetQuota: ['Khóa này đã dùng hết hạn mức.', 'The quota of this key is used up.'],
  fleetBroken: [
    'Máy chủ trả lời không như mong đợi: hãy thử lại sau.',
    'The service sent an unexpected answer: try again later.',
  ],
  fleetRate: ['Điểm mỗi giây', 'Points a second'],
  fleetChanges: ['Mã thay đổi mỗi giây', 'Changed codes a second'],
  fleetWindow: ['Gói chờ phản hồi (tối đa {window})', 'Frames waiting for an answer (at most {window})'],
  fleetLatency: ['Độ trễ trung vị · cao nhất (ms)', 'Latency, median · highest (ms)'],
  vehicle: ['Xe {vehicle}', 'Vehicle {vehicle}'],
  fleetCodes: ['Năm xe đầu tiên', 'The first five vehicles'],
  fleetColors: [
    'Bản đồ đếm xe theo ô. Bật lớp Điểm để thấy từng xe: màu đổi khi xe sang ô lớn khác.',
    'The map counts vehicles by hexagon. The layer Points shows each: its colour changes with the larger cell.',
  ],
  fleetFailed: ['{points} vị trí không có mã.', '{points} positions have no code.'],
  fleetOverLimit: [
    '{points} vị trí bị từ chối vì giới hạn của khóa hoặc máy chủ quá tải.',
    '{points} positions were refused, over a limit of the key or by an overloaded service.',
  ],
  secondsOf: ['{seconds} giây', '{seconds} s'],
} as const;
