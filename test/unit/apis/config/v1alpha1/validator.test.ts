// Tests of the formats of options: CORS origins, and URLs of servers.
import { expect } from 'chai';
import { decodeConfiguration } from '../../../../../apis/config/v1alpha1/decode.ts';
import { isOrigin } from '../../../../../apis/config/v1alpha1/validator.ts';
import { messageOf } from '../../../../../apis/reading/thrown-value.ts';

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

describe('the URL of the collector', () => {
  const errorOf = (tracing: object): string | undefined => {
    const value = { apiVersion: 'config.platform.io/v1alpha1', kind: 'APIServerConfiguration', tracing };
    try {
      decodeConfiguration({ source: 'c.yaml', text: JSON.stringify(value) });
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };

  it('is one of an HTTP server, with or without a path', () => {
    for (const endpoint of [
      '',
      'http://localhost:4318',
      'https://[::1]:4318/',
      'https://a.example/insert/opentelemetry',
    ])
      expect(errorOf({ endpoint }), endpoint).to.equal(undefined);
    for (const endpoint of [
      'localhost:4317',
      'grpc://localhost:4317',
      'http://',
      'http://a:99999',
      'https://a.example?key=secret',
      'https://a.example#secret',
      'https://user:secret@a.example',
      'https://a.example\n',
    ]) {
      const message = errorOf({ endpoint });
      expect(message, endpoint).to.include(
        'tracing.endpoint: must be an http:// or https:// URL without credentials',
      );
      expect(message).to.not.include('secret');
    }
  });

  it('has TLS if it has a CA', () => {
    expect(errorOf({ endpoint: 'https://a.example', caFile: 'ca.crt' })).to.equal(undefined);
    for (const endpoint of ['', 'http://a.example']) {
      expect(errorOf({ endpoint, caFile: 'ca.crt' })).to.include('tracing.caFile: requires an https:// URL');
    }
  });
});
