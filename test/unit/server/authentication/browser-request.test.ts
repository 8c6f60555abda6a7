// Tests that recognise the requests of pages of other origins.
import { expect } from 'chai';
import { isForeignPage } from '../../../../server/authentication/browser-request.ts';

const HOST = 'api.example.net:8443';

describe('isForeignPage', () => {
  const cases: readonly (readonly [
    foreign: boolean,
    headers: Readonly<Record<string, string>>,
    secure?: boolean,
  ])[] = [
    [false, {}],
    [false, { origin: `https://${HOST}` }],
    [false, { origin: 'https://api.example.net', host: 'API.example.net:443' }],
    [false, { origin: 'https://[::1]:8443', host: '[::1]:8443' }],
    [false, { origin: 'https://allowed.example', 'sec-fetch-site': 'cross-site' }],
    [false, { origin: `http://${HOST}` }, false],
    [false, { 'sec-fetch-site': 'none' }],
    [true, { origin: `http://${HOST}` }],
    [true, { origin: `https://${HOST}`, 'sec-fetch-site': 'same-site' }],
    [true, { origin: 'https://api.example.net' }],
    [true, { origin: `https://${HOST}/` }],
    [true, { origin: `https://${HOST}, https://${HOST}` }],
    [true, { origin: 'null' }],
    [true, { origin: '' }],
    [true, { 'sec-fetch-site': 'Same-Origin' }],
    [true, { 'sec-fetch-site': 'same-origin, cross-site' }],
    // A Host that no browser sends, and that URL parsers read differently.
    [true, { origin: 'https://evil.example', host: 'api.example.net@evil.example' }],
    [true, { origin: 'https://evil.example', host: 'evil.example/api.example.net' }],
    [true, { origin: 'https://evil.example', host: 'evil.example?api.example.net' }],
    [true, { origin: 'https://evil.example', host: 'evil.example#' }],
    [true, { origin: 'https://evil.example', host: '' }],
  ];
  for (const [foreign, headers, secure = true] of cases) {
    it(`is ${foreign} for ${JSON.stringify(headers)}${secure ? '' : ' without TLS'}`, () => {
      const request = { headers: { host: HOST, ...headers } };
      expect(isForeignPage({ request, secure }, ['https://allowed.example'])).to.equal(foreign);
    });
  }
});
