// Tests of the parser of the ConfigMap kube-system/extension-apiserver-authentication.
import { expect } from 'chai';
import { parseDelegatedAuthentication } from '../../../../server/authentication/delegated-authentication.ts';
import { type Issued, newCA } from '../../../support/certificates.ts';

describe('published authentication settings', () => {
  let ca: Issued;
  let other: Issued;

  before(async () => {
    [ca, other] = await Promise.all([newCA('one'), newCA('two')]);
  });

  it('contain CA bundles, with text between the certificates', () => {
    const data = { 'client-ca-file': `# first\n${ca.cert}\n# second\n${other.cert}\n` };
    const { clientCAs } = parseDelegatedAuthentication(data, 1);
    expect(clientCAs.map(({ subject }) => subject)).to.deep.equal(['CN=one', 'CN=two']);
  });

  it('have no front proxy without its CA', () => {
    expect(parseDelegatedAuthentication({}, 1)).to.deep.equal({
      generation: 1,
      clientCAs: [],
      frontProxy: undefined,
    });
  });

  it('contain headers in lower case, and none for a missing key', () => {
    const { frontProxy } = parseDelegatedAuthentication(
      {
        'requestheader-client-ca-file': ca.cert,
        'requestheader-username-headers': '["X-Remote-User", " X-Other "]',
        'requestheader-group-headers': 'null',
        'requestheader-uid-headers': ' ',
      },
      1,
    );
    expect(frontProxy).to.deep.include({
      usernameHeaders: ['x-remote-user', 'x-other'],
      groupHeaders: [],
      uidHeaders: [],
      extraHeaderPrefixes: [],
      allowedNames: [],
    });
  });

  it('ignore an empty header name, which as a prefix would match every header', () => {
    const { frontProxy } = parseDelegatedAuthentication(
      {
        'requestheader-client-ca-file': ca.cert,
        'requestheader-extra-headers-prefix': '["", " ", "X-Remote-Extra-"]',
      },
      1,
    );
    expect(frontProxy?.extraHeaderPrefixes).to.deep.equal(['x-remote-extra-']);
  });

  for (const [what, data] of [
    ['a CA that is none', { 'client-ca-file': 'hello' }],
    [
      'a certificate that is broken',
      { 'client-ca-file': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
    ],
  ] as const) {
    it(`are refused as a whole for ${what}`, () => {
      expect(() => parseDelegatedAuthentication(data, 1)).to.throw('client-ca-file is unreadable');
    });
  }

  for (const names of ['front-proxy-client', '"front-proxy-client"', '[1]', '{}']) {
    it(`are refused as a whole when the allowed names are ${names}: an empty list would allow every name`, () => {
      const data = { 'requestheader-client-ca-file': ca.cert, 'requestheader-allowed-names': names };
      expect(() => parseDelegatedAuthentication(data, 1)).to.throw('requestheader-allowed-names');
    });
  }
});
