// The texts of a code over the telephone, which come with it.

export const spellVi = {
  readAloud: 'Đọc thành tiếng',
  copySpelling: 'Sao chép cách đọc',
  noVoice: 'Thiết bị này không có giọng đọc tiếng Việt.',
} as const;

export const spellEn: Readonly<Record<keyof typeof spellVi, string>> = {
  readAloud: 'Read aloud',
  copySpelling: 'Copy the spelling',
  noVoice: 'This device has no voice that reads English.',
};
