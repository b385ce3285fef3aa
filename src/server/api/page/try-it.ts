// The script of the page /docs, as text: sends the forms, and shows calls with the address of this service.

export const SCRIPT = `
'use strict';
const keyField = document.getElementById('key');
for (const code of document.querySelectorAll('pre code')) {
  code.textContent = code.textContent.replaceAll('http://127.0.0.1:8080', location.origin);
}
for (const form of document.forms) {
  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const output = form.querySelector('output');
    if (form.id === 'with-key') return;
    const query = new URLSearchParams();
    let path = form.dataset.path;
    let body;
    for (const field of form.elements) {
      if (!field.name || field.value === '') continue;
      if (field.dataset.in === 'path') path = path.replace('{' + field.name + '}', encodeURIComponent(field.value));
      else if (field.dataset.in === 'body') body = field.value;
      else query.set(field.name, field.value);
    }
    const headers = { 'X-API-Key': keyField.value };
    if (body !== undefined) headers['Content-Type'] = form.dataset.type;
    const search = query.toString();
    output.textContent = '…';
    try {
      const answer = await fetch(path + (search && '?' + search), { method: form.dataset.method, headers, body });
      output.textContent = answer.status + ' ' + answer.statusText + '\\n' + (await answer.text());
    } catch (error) {
      output.textContent = String(error);
    }
  });
}
`;
