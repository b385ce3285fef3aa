// A code for the telephone: spelt symbol by symbol, read aloud where the device itself has a voice of the language.
// Voices of others are left out: what is looked up would be sent to them.
import { button, element } from '../shell/elements.js';
import { language } from '../words/language.js';
import { spelling, spelt } from '../words/spelling.js';
import { copy } from './copy.js';

/** Slower than speech, for writing it down. */
const RATE = 0.8;

export function spellingParts(code: string): HTMLElement[] {
  const groups = spelt(code, language.now).map((group) =>
    element(
      'ol',
      { class: 'spelt' },
      ...group.map(({ symbol, word }) =>
        element('li', {}, element('span', { class: 'code', text: symbol }), ` ${word}`),
      ),
    ),
  );
  const aloud = button('readAloud', { id: 'read-aloud' }, () => read(code));
  const none = element('p', { class: 'soft', key: 'noVoice' });
  const update = (): void => {
    const hasVoice = voiceNow() !== undefined;
    aloud.hidden = !hasVoice;
    none.hidden = hasVoice;
  };
  update();
  // Browsers list their voices later than they are asked.
  globalThis.speechSynthesis?.addEventListener('voiceschanged', update);
  return [
    ...groups,
    element(
      'div',
      { class: 'actions' },
      aloud,
      button('copySpelling', { id: 'copy-spelling' }, () => copy(`${code}: ${spelling(code, language.now)}`)),
    ),
    none,
  ];
}

function voiceNow(): SpeechSynthesisVoice | undefined {
  return globalThis.speechSynthesis
    ?.getVoices()
    .find(({ lang, localService }) => localService && lang.toLowerCase().startsWith(language.now));
}

function read(code: string): void {
  const voice = voiceNow();
  if (voice === undefined) return;
  const text = new SpeechSynthesisUtterance(spelling(code, language.now));
  text.voice = voice;
  text.lang = voice.lang;
  text.rate = RATE;
  speechSynthesis.cancel();
  speechSynthesis.speak(text);
}
