// Turns what a terminal was sent into text: escapes removed; of a line that was redrawn in place every second state
// stays.

const EVERY = 2;
let text = '';
for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
const ESC = String.fromCharCode(27);
const ESCAPE = new RegExp(`${ESC}(?:\\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>78])`, 'g');
const START = new RegExp(`${ESC}\\[\\d*G`, 'g');
for (const line of text.replaceAll('\r\n', '\n').split('\n')) {
  const states = line
    .replaceAll(START, '\r')
    .replace(ESCAPE, '')
    .split('\r')
    .map((state) => state.trimEnd())
    .filter((state, i, all) => state !== '' && state !== all[i + 1]);
  const kept = states.filter((_, i) => i === states.length - 1 || i % EVERY === 0);
  process.stdout.write(`${kept.length === 0 ? '' : kept.join('\n')}\n`);
}
