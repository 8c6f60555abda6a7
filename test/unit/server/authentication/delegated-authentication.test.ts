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

  it('contain headers in lower case, and none for a missing key', () => {
    const { frontProxy } = parseDelegatedAuthentication(
      {
        'requestheader-client-ca-file': ca.cert,
        'requestheader-username-headers': '["X-Remote-User", " X-Other "]',
        'requestheader-group-headers': 'null',
        'requestheader-uid-headers': ' ',
        // An empty prefix would match every header.
        'requestheader-extra-headers-prefix': '["", " ", "X-Remote-Extra-"]',
      },
      1,
    );
    expect(frontProxy).to.deep.include({
      usernameHeaders: ['x-remote-user', 'x-other'],
      groupHeaders: [],
      uidHeaders: [],
      extraHeaderPrefixes: ['x-remote-extra-'],
      allowedNames: [],
    });
  });

  it('are refused as a whole if a part is unreadable: an empty list of allowed names would allow every name', () => {
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
    for (const data of ['hello', broken].map((text) => ({ 'client-ca-file': text }))) {
      expect(() => parseDelegatedAuthentication(data, 1)).to.throw('client-ca-file is unreadable');
    }
    for (const names of ['front-proxy-client', '"front-proxy-client"', '[1]', '{}']) {
      const data = { 'requestheader-client-ca-file': ca.cert, 'requestheader-allowed-names': names };
      expect(() => parseDelegatedAuthentication(data, 1), names).to.throw('requestheader-allowed-names');
    }
  });
});
