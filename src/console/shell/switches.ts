// The two switches in the corner: language, and light or dark.
import { choose, language } from '../words/language.js';
import { button, byId, element } from './elements.js';
import { keep, kept, Value } from './value.js';

const KEPT = 'hexcodes-theme';

/** Whether the page is dark now, by the visitor's choice or by that of the system. */
export const isDark = new Value(false);

const system = matchMedia('(prefers-color-scheme: dark)');

function applyTheme(): void {
  const chosen = kept(KEPT);
  const dark = chosen === null ? system.matches : chosen === 'dark';
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  if (dark !== isDark.now) isDark.set(dark);
}

export function openSwitches(): void {
  applyTheme();
  system.addEventListener('change', applyTheme);
  // Chosen in another tab.
  addEventListener('storage', applyTheme);
  const languageButton = button('language', { class: 'quiet', label: 'languageLabel', id: 'language' }, () =>
    choose(language.now === 'vi' ? 'en' : 'vi'),
  );
  // The button names the other language, in that language.
  language.each((now) => {
    languageButton.lang = now === 'vi' ? 'en' : 'vi';
  });
  const themeButton = element('button', {
    class: 'quiet round',
    label: 'theme',
    id: 'theme',
    click: () => {
      keep(KEPT, isDark.now ? 'light' : 'dark');
      applyTheme();
    },
  });
  isDark.each((dark) => themeButton.setAttribute('aria-pressed', String(dark)));
  byId('switches').append(languageButton, themeButton);
}
