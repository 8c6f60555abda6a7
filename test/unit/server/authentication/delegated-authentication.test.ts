import { expect } from 'chai';
import { parseDelegatedAuthentication } from '../../../../server/authentication/delegated-authentication.ts';
import { type Issued, newCA } from '../../../support/certificates.ts';

describe('the settings that kube-apiserver publishes', () => {
  let ca: Issued;
  let other: Issued;

  before(async () => {
    [ca, other] = await Promise.all([newCA('one'), newCA('two')]);
  });

  it('hold bundles of CAs, with text between them', () => {
    const data = { 'client-ca-file': `# first\n${ca.cert}\n# second\n${other.cert}\n` };
    const { clientCAs } = parseDelegatedAuthentication(data, 1);
    expect(clientCAs.map(({ subject }) => subject)).to.deep.equal(['CN=one', 'CN=two']);
  });

  it('may have no front proxy', () => {
    expect(parseDelegatedAuthentication({}, 1)).to.deep.equal({
      generation: 1,
      clientCAs: [],
      frontProxy: undefined,
    });
  });

  it('name headers in any case, and none where the key is missing', () => {
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

  it('name no header by nothing: as a prefix it would make an extra of every header', () => {
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
      expect(() => parseDelegatedAuthentication(data, 1)).to.throw('client-ca-file cannot be read');
    });
  }

  for (const names of ['front-proxy-client', '"front-proxy-client"', '[1]', '{}']) {
    it(`are refused as a whole when the allowed names are ${names}: an empty list would allow every name`, () => {
      const data = { 'requestheader-client-ca-file': ca.cert, 'requestheader-allowed-names': names };
      expect(() => parseDelegatedAuthentication(data, 1)).to.throw('requestheader-allowed-names');
    });
  }
});
