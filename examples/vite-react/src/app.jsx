// A position to its code and back in the page itself, and a list of positions by the service.
import { Hexcodes } from 'hexcodes';
import { HexcodesClient } from 'hexcodes/client';
import { Suspense, use, useState } from 'react';

// Once for the whole page: loading takes a few tens of milliseconds.
const loading = Hexcodes.load();

export function App() {
  return (
    <main>
      <h1>Hexcodes</h1>
      <Suspense fallback={<p>Loading</p>}>
        <Here />
      </Suspense>
      <Many />
    </main>
  );
}

function Here() {
  const hexcodes = use(loading);
  const [text, setText] = useState('21.0288, 105.8525');
  return (
    <section>
      <label>
        Position or code <input value={text} onChange={({ target }) => setText(target.value)} />
      </label>{' '}
      <output>{answerTo(hexcodes, text)}</output>
    </section>
  );
}

/** The code of a position, or the position of a code. */
function answerTo(hexcodes, text) {
  const place = hexcodes.decode(text);
  if (place !== null) return `${place.lat.toFixed(6)}, ${place.lng.toFixed(6)}`;
  const [lat, lng] = text.split(',').map(Number);
  try {
    return hexcodes.encode(lat, lng).hexcodes;
  } catch (error) {
    return error.code;
  }
}

function Many() {
  const [key, setKey] = useState('');
  const [rows, setRows] = useState([]);
  const [fault, setFault] = useState('');
  const points = [
    { id: 'Hà Nội', lat: 21.0288, lng: 105.8525 },
    { id: 'Huế', lat: 16.4637, lng: 107.5909 },
    { id: 'Paris', lat: 48.8584, lng: 2.2945 },
  ];

  async function ask(event) {
    event.preventDefault();
    setFault('');
    try {
      const client = new HexcodesClient({ baseUrl: '/v1', apiKey: key });
      setRows((await client.encodeBatch(points, { resolution: 11 })).results);
    } catch (error) {
      setFault(error.message);
    }
  }

  return (
    <form onSubmit={ask}>
      <label>
        API key <input type="password" value={key} onChange={({ target }) => setKey(target.value)} />
      </label>{' '}
      <button type="submit">Ask the service</button>
      <ul>
        {rows.map(({ id, status, hexcodes }) => (
          <li key={id}>
            {id}: {status === 'OK' ? hexcodes : status}
          </li>
        ))}
      </ul>
      <p role="alert">{fault}</p>
    </form>
  );
}
