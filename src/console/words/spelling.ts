// How a code is spelt over the telephone: each letter with a word that begins with it, each digit as its name.
import type { Language } from './language.js';

const DIGITS: Readonly<Record<Language, readonly string[]>> = {
  vi: ['không', 'một', 'hai', 'ba', 'bốn', 'năm', 'sáu', 'bảy', 'tám', 'chín'],
  en: ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'],
};

/**
 * Vietnamese: well-known places and words, and names for letters that Vietnamese does not have. English: the radio
 * alphabet.
 */
const WORDS: Readonly<Record<Language, string>> = {
  vi:
    'An Giang,Bắc Ninh,Cà Mau,Duy Tân,Em,Fansipan,Gia Lai,Huế,Internet,Jakarta,Khánh Hòa,Lào Cai,Mộc Châu,' +
    'Ninh Bình,Oman,Phú Quốc,Quảng Trị,Rạch Giá,Sơn La,Tây Ninh,U Minh,Vũng Tàu,WiFi,Xuân Lộc,Yên Bái,Zalo',
  en:
    'Alfa,Bravo,Charlie,Delta,Echo,Foxtrot,Golf,Hotel,India,Juliett,Kilo,Lima,Mike,' +
    'November,Oscar,Papa,Quebec,Romeo,Sierra,Tango,Uniform,Victor,Whiskey,X-ray,Yankee,Zulu',
};
const AS: Readonly<Record<Language, string>> = { vi: 'như', en: 'as in' };

export interface SpeltSymbol {
  readonly symbol: string;
  /** The word of a letter, or the name of a digit. */
  readonly word: string;
}

/** The groups of a code, each symbol with its word. */
export function spelt(code: string, language: Language): SpeltSymbol[][] {
  const words = WORDS[language].split(',');
  return code.split('-').map((group) =>
    [...group].map((symbol) => {
      const digit = DIGITS[language][Number(symbol)];
      return { symbol, word: digit ?? words[symbol.charCodeAt(0) - 65] ?? symbol };
    }),
  );
}

/** One text that is read aloud or sent: `H như Huế, N như Ninh Bình; sáu, …`. */
export function spelling(code: string, language: Language): string {
  const said = ({ symbol, word }: SpeltSymbol): string =>
    /\d/.test(symbol) ? word : `${symbol} ${AS[language]} ${word}`;
  return spelt(code, language)
    .map((group) => group.map(said).join(', '))
    .join('; ');
}
