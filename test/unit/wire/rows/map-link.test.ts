// Links to maps: of all positions in a link the one that is meant is read, wherever its parameter stands.
import { expect, test } from 'vitest';
import { parsePosition } from '#dist/hexcodes/wire/rows/position-text.js';

const LAT = 21.0288;
const LNG = 105.8525;
const PIN = `${LAT},${LNG}`;

/** Links by service: an address, the parameters that mean the position, and others beside them. */
const SERVICES: readonly {
  name: string;
  address: string;
  meant: readonly string[];
  beside: readonly string[];
}[] = [
  {
    name: 'Google, maps.google.com',
    address: 'https://maps.google.com/maps',
    meant: [
      `q=${PIN}`,
      `q=loc:${PIN}`,
      `query=${PIN}`,
      `q=${PIN}(Nhà)`,
      `q=21.0288N+105.8525E`,
      `viewpoint=${PIN}`,
    ],
    beside: [
      'll=21.03,105.80',
      'sll=21.1,105.7',
      'z=17',
      'center=21.03,105.8',
      'saddr=21.2,105.6',
      'daddr=21.3,105.5',
    ],
  },
  {
    name: 'Google, a route',
    address: 'https://www.google.com/maps/dir/',
    meant: [`destination=${PIN}`, `daddr=${PIN}`, `daddr=21.1,105.7+to:${PIN}`],
    beside: ['origin=21.2,105.6', 'saddr=21.2,105.6', 'waypoints=21.3,105.5', 'center=21.03,105.8', 'api=1'],
  },
  {
    name: 'Apple',
    address: 'https://maps.apple.com/',
    meant: [`q=${PIN}`, `coordinate=${PIN}`, `daddr=${PIN}`],
    beside: ['sll=21.1,105.7', 'center=21.03,105.8', 'saddr=21.2,105.6', 'z=17', 't=m'],
  },
  {
    name: 'Bing',
    address: 'https://www.bing.com/maps',
    meant: [`sp=point.${LAT}_${LNG}_Nh%C3%A0`, `q=${PIN}`, `rtp=pos.21.1_105.7~pos.${LAT}_${LNG}_x`],
    beside: ['cp=21.03~105.80', 'lvl=16', 'style=r'],
  },
  {
    name: 'OpenStreetMap',
    address: 'https://www.openstreetmap.org/',
    meant: [
      `mlat=${LAT}&mlon=${LNG}`,
      `mlon=${LNG}&mlat=${LAT}`,
      `query=${PIN}`,
      `route=21.1%2C105.7%3B${LAT}%2C${LNG}`,
    ],
    beside: ['lat=21.03&lon=105.80', 'zoom=12', 'layers=C'],
  },
  {
    name: 'Waze',
    address: 'https://www.waze.com/ul',
    meant: [`ll=${PIN}`, `latlng=${PIN}`, `to=ll.${PIN}`],
    beside: ['navigate=yes', 'zoom=17', 'from=ll.21.2%2C105.6', 'lat=21.03&lon=105.8'],
  },
  {
    name: 'Yandex',
    address: 'https://yandex.com/maps/',
    meant: [
      `pt=${LNG},${LAT},pm2rdm`,
      `whatshere[point]=${LNG},${LAT}`,
      `text=${LAT}%2C${LNG}`,
      `rtext=21.1,105.7~${PIN}`,
    ],
    beside: ['ll=105.80,21.03', 'z=16', 'l=map'],
  },
  {
    name: 'mapy',
    address: 'https://en.mapy.cz/zakladni',
    meant: [`source=coor&id=${LNG},${LAT}`, `q=${PIN}`],
    beside: ['x=105.80&y=21.03', 'z=17'],
  },
  {
    name: 'OsmAnd',
    address: 'https://osmand.net/map',
    meant: [`pin=${PIN}`, `lat=${LAT}&lon=${LNG}`],
    beside: ['z=16', 'start=21.2,105.6'],
  },
  {
    name: 'another, by names that speak',
    address: 'https://x.example/map',
    meant: [
      `lat=${LAT}&lng=${LNG}`,
      `q=${PIN}`,
      `longitude=${LNG}&latitude=${LAT}`,
      `dropOffLatitude=${LAT}&dropOffLongitude=${LNG}`,
    ],
    beside: ['center=21.03,105.80', 'll=21.03,105.80', 'zoom=3'],
  },
];

test.each(SERVICES)(
  '$name: the position that is meant, in any order of parameters',
  ({ address, meant, beside }) => {
    for (const one of meant) {
      // The destination of a link that also has a query comes behind it: it is not beside the query here.
      const others = /daddr|destination|to=|rt|route|dropOff/.test(one)
        ? beside.filter((each) => !/daddr/.test(each))
        : beside;
      for (let turn = 0; turn <= others.length; turn++) {
        const parameters = [...others.slice(0, turn), one, ...others.slice(turn)].join('&');
        const link = `${address}?${parameters}`;
        const found = parsePosition(link);
        expect([link, found?.latDeg, found?.lngDeg, found?.middleOf]).toEqual([link, LAT, LNG, undefined]);
      }
    }
  },
);

test.each([
  'https://www.google.com/maps/@21.0288,105.8525,17z',
  'https://www.google.com/maps/place/Caf%C3%A9/@21.0288,105.8525,17z',
  'https://www.google.com/maps/@21.0288,105.8525,3a,75y,90h,90t/data=!3m6!1e1',
  'https://maps.google.com/maps?q=H%C3%A0+N%E1%BB%99i&ll=21.0288,105.8525',
  'https://www.google.com/maps/embed?pb=!1m14!1m12!1m3!1d3724.1!2d105.8525!3d21.0288!2m3!1f0',
  'https://maps.apple.com/?ll=21.0288,105.8525',
  'https://www.bing.com/maps?cp=21.0288~105.8525&lvl=16',
  'https://www.openstreetmap.org/#map=18/21.0288/105.8525',
  'https://www.openstreetmap.org/node/1#map=18/21.0288/105.8525&layers=C',
  'https://wego.here.com/?map=21.0288,105.8525,15,normal',
  'https://yandex.com/maps/?ll=105.8525,21.0288&z=15',
  'https://x.example/#16/21.0288/105.8525',
  'geo:21.0288,105.8525?q=Caf%C3%A9',
])('the middle of the view, which says so: %s', (link) => {
  expect(parsePosition(link)).toEqual({ latDeg: LAT, lngDeg: LNG, middleOf: 'view' });
});

test.each([
  `https://www.google.com/maps/place/21%C2%B001'43.68%22N+105%C2%B051'09.0%22E/@21.0288056,105.8499251,17z`,
  `https://www.google.com/maps/place/21°01'43.68"N+105°51'09.0"E/@21.0288056,105.8499251,17z`,
  'https://www.google.com/maps/place/H/@21.0,105.8,17z/data=!3m1!4b1!8m2!3d21.03!4d105.856!3m5!7e2!8m2!3d21.0288!4d105.8525',
  'https://www.google.com/maps/dir/21.1,105.7/21.0288,105.8525/@21.05,105.8,13z',
  'https://www.google.com/maps/dir/H%C3%A0+N%E1%BB%99i/Nh%C3%A0/@21.05,105.8,13z/data=!4m14!4m13!1m5!2m2!1d105.7!2d21.1!1m5!2m2!1d105.8525!2d21.0288!3e0',
  'https://www.google.com/maps/search/21.0288,+105.8525/@21.0,105.8,17z',
  'https://www.google.com/url?q=https://maps.google.com/?q%3D21.0288,105.8525&sa=D',
  'https://maps.apple.com/?ll=21.0288,105.8525&q=Nh%C3%A0',
  'https://maps.apple.com/place?coordinate=21.0288,105.8525&name=Pin',
  'https://share.here.com/l/21.0288,105.8525,Nh%C3%A0?z=16&map=21.0,105.8,15',
  'https://share.here.com/r/21.1,105.7,A/21.0288,105.8525,B',
  'https://www.waze.com/live-map/directions?to=ll.21.0288%2C105.8525&from=ll.21.1%2C105.7',
  'comgooglemaps://?q=21.0288,105.8525&center=21.0,105.8',
  'google.navigation:q=21.0288,105.8525',
  'waze://?ll=21.0288,105.8525&navigate=yes',
  'grab://open?screenType=BOOKING&pickUpLatitude=21.1&pickUpLongitude=105.7&dropOffLatitude=21.0288&dropOffLongitude=105.8525',
  'geo:0,0?q=21.0288,105.8525(Nh%C3%A0)',
  'https://maps.googleapis.com/maps/api/staticmap?center=21.1,105.7&markers=color:red%7Clabel:A%7C21.0288,105.8525',
  'geo:21.0,105.8?q=21.0288,105.8525',
  '\u200ehttps://maps.google.com/?q=21.0288,105.8525\u200e',
])('the pin of %s', (link) => {
  const found = parsePosition(link);
  expect(found?.middleOf).toBeUndefined();
  expect(found?.latDeg).toBeCloseTo(LAT, 10);
  expect(found?.lngDeg).toBeCloseTo(LNG, 10);
});

test.each([
  // Two positions that contradict each other.
  'https://maps.google.com/?q=21.0288,105.8525&query=21.1,105.7',
  'https://www.bing.com/maps?sp=point.21.0_105.8_a~point.21.1_105.7_b&cp=21.0~105.8',
  'https://x.example/?lat=21.0&lng=105.8&lat=21.1&lng=105.8',
  'https://maps.googleapis.com/maps/api/staticmap?markers=21.0,105.8%7C21.1,105.7&center=21.0,105.8',
  'https://x.example/?lat=21.0&lat=21.1&lng=105.8',
  // No position, or none that is in degrees of latitude and longitude.
  'https://maps.app.goo.gl/abc123',
  'https://what3words.com/filled.count.soap?lat=21.0&lng=105.8',
  'https://www.google.com/maps/place/Nh%C3%A0',
  'https://x.example/?page=21&size=105',
  'https://x.example/?x=3&y=4',
  'https://maps.google.com/?ll=21,0288,105,8525',
  'https://x.example/?lat=0x15&lng=105',
  'geo:0,0?q=H%C3%A0+N%E1%BB%99i',
  'geo:21.0288,105.8525;crs=vn2000',
  'https://%zz',
])('none: %s', (link) => {
  expect(parsePosition(link)).toBeNull();
});
