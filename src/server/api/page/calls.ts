// The example request of an operation, and calls of it as people copy them: curl, JavaScript, Python, Go.
import { BODIES } from '../bodies.js';
import { type Operation, VECTOR_TILE } from '../operations.js';

/** Placeholders for the address of the service and the key; the page inserts its own. */
export const BASE = 'http://127.0.0.1:8080';
export const KEY = 'YOUR_KEY';

export interface Call {
  readonly language: string;
  readonly code: string;
}

const CSV = 'text/csv';
const NDJSON = 'application/x-ndjson';
/** Bodies of any length by operation and media type. */
const BULK_BODIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  encodeBulk: {
    [CSV]: 'id,lat,lng\n1,21.0288,105.8525\n',
    [NDJSON]: '{"id":"1","lat":21.0288,"lng":105.8525}\n',
  },
  decodeBulk: {
    [CSV]: 'id,hexcodes\n1,HN-6GHP4-83RFR\n',
    [NDJSON]: '{"id":"1","hexcodes":"HN-6GHP4-83RFR"}\n',
  },
};

export interface ExampleRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Media type of the body, if it has one. */
  readonly type: string | undefined;
  readonly body: string | undefined;
}

/** The example requests of an operation, one for each media type of the body that has an example. */
export function exampleRequests({ id, path, method, parameters, body }: Operation): ExampleRequest[] {
  const query =
    body === undefined ? parameters.filter((each) => each.in === 'query' && each.example !== undefined) : [];
  const filled = parameters
    .filter((each) => each.in === 'path')
    .reduce((text, { name, example }) => text.replace(`{${name}}`, String(example)), path);
  const search = query
    .map(({ name, example }) => `${name}=${String(example).replaceAll(' ', '%20')}`)
    .join('&');
  const head = { method: method.toUpperCase(), target: `${filled}${search === '' ? '' : `?${search}`}` };
  if (body === undefined) return [{ ...head, type: undefined, body: undefined }];
  const schema = body.types['application/json'];
  const { examples } = (schema === undefined ? {} : BODIES[schema]) as { examples?: object[] };
  const bodies = BULK_BODIES[id] ?? { 'application/json': JSON.stringify(examples?.[0]) };
  return Object.entries(bodies).map(([type, text]) => ({ ...head, type, body: text }));
}

interface Example {
  /** The answer is bytes: their number is printed. */
  readonly isBinary: boolean;
  readonly method: string;
  readonly url: string;
  readonly type: string | undefined;
  /** Text between quotes of JavaScript, Python and Go. */
  readonly body: string | undefined;
}

/** Calls with the first example request. */
export function callsOf(operation: Operation): Call[] {
  const { method, target, type, body } = exampleRequests(operation)[0] as ExampleRequest;
  const example = {
    isBinary: operation.answers[0] === VECTOR_TILE,
    method,
    url: `${BASE}${target}`,
    type,
    body: body?.replaceAll('"', '\\"').replaceAll('\n', '\\n'),
  };
  return [
    { language: 'curl', code: curl(example) },
    { language: 'JavaScript', code: javaScript(example) },
    { language: 'Python', code: python(example) },
    { language: 'Go', code: go(example) },
  ];
}

function curl({ isBinary, url, type, body }: Example): string {
  const head = `curl -s -H 'X-API-Key: ${KEY}'`;
  if (body === undefined) return `${head} '${url}'${isBinary ? ' | wc -c' : ''}`;
  const text = body.replaceAll('\\"', '"');
  // printf turns \\n into a line end; JSON has none.
  return type === 'text/csv'
    ? `printf '${text}' | ${head} -H 'Content-Type: ${type}' --data-binary @- '${url}'`
    : `${head} -H 'Content-Type: ${type}' -d '${text}' '${url}'`;
}

function javaScript({ isBinary, method, url, type, body }: Example): string {
  const typeLine = type === undefined ? '' : `, 'Content-Type': '${type}'`;
  const bodyLine = body === undefined ? '' : `\n  body: "${body}",`;
  return `const answer = await fetch('${url}', {
  method: '${method}',
  headers: { 'X-API-Key': '${KEY}'${typeLine} },${bodyLine}
});
console.log(${isBinary ? '(await answer.arrayBuffer()).byteLength' : 'await answer.text()'});`;
}

function python({ isBinary, method, url, type, body }: Example): string {
  const typeLine = type === undefined ? '' : `, "Content-Type": "${type}"`;
  const bodyLine = body === undefined ? '' : `\n    data="${body}".encode(),`;
  return `from urllib.request import Request, urlopen

request = Request(
    "${url}",
    method="${method}",
    headers={"X-API-Key": "${KEY}"${typeLine}},${bodyLine}
)
print(${isBinary ? 'len(urlopen(request).read())' : 'urlopen(request).read().decode()'})`;
}

function go({ isBinary, method, url, type, body }: Example): string {
  const imports = body === undefined ? ['fmt', 'io', 'net/http'] : ['fmt', 'io', 'net/http', 'strings'];
  const reader = body === undefined ? 'nil' : `strings.NewReader("${body}")`;
  const typeLine = type === undefined ? '' : `\n\trequest.Header.Set("Content-Type", "${type}")`;
  return `package main

import (
${imports.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
	request, err := http.NewRequest("${method}", "${url}", ${reader})
	if err != nil {
		panic(err)
	}
	request.Header.Set("X-API-Key", "${KEY}")${typeLine}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(${isBinary ? 'len(text)' : 'string(text)'})
}`;
}
