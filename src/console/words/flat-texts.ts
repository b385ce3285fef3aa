// The text of the map where WebGL is missing, which comes with it.

export const flatVi = {
  noWebgl: 'Trình duyệt này không có WebGL 2: bản đồ được vẽ đơn giản.',
} as const;

export const flatEn: Readonly<Record<keyof typeof flatVi, string>> = {
  noWebgl: 'This browser has no WebGL 2: the map is a plain drawing.',
};
