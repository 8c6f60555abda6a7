// Tests of isOrigin, the validation of CORS origins.
import { expect } from 'chai';
import { decodeConfiguration } from '../../../../../apis/config/v1alpha1/decode.ts';
import { isOrigin } from '../../../../../apis/config/v1alpha1/validator.ts';

describe('isOrigin', () => {
  it('accepts origins in the form that browsers send only', () => {
    const origins = [
      'https://a.example',
      'http://localhost:8080',
      'http://[::1]:3000',
      'https://10.0.0.7:30880',
    ];
    for (const origin of origins) expect(isOrigin(origin), origin).to.equal(true);
    for (const [text, why] of [
      ['https://console.example.com/', 'browsers send no slash'],
      ['https://console.example.com/app', 'an origin has no path'],
      ['https://console.example.com:443', 'browsers leave the default port out'],
      ['https://Console.example.com', 'browsers write lower case'],
      ['console.example.com', 'a scheme is missing'],
      ['https://*.example.com', 'origins are compared, no patterns'],
      ['*', 'a pattern is not an origin'],
      ['null', 'files and sandboxed pages of anybody have it'],
      ['com.example.app://console', 'no web page'],
    ] as const) {
      expect(isOrigin(text), `${text}: ${why}`).to.equal(false);
    }
  });

  it('is the format of allowedOrigins', () => {
    const text = [
      'apiVersion: config.platform.io/v1alpha1',
      'kind: APIServerConfiguration',
      'cors: {allowedOrigins: [https://a.example, https://b.example/]}',
      '',
    ].join('\n');
    expect(() => decodeConfiguration({ source: 'c.yaml', text })).to.throw(
      'c.yaml:3:44: cors.allowedOrigins[1]: must be an origin in the form that browsers send, such as https://console.example.com, not "https://b.example/"',
    );
  });
});
