// Tests of the names in the certificate that the server issues.
import { expect } from 'chai';
import { decodeConfiguration } from '../../../../../apis/config/v1alpha1/decode.ts';
import { issuedNames } from '../../../../../server/listener/certificates/certificate-choice.ts';

describe('the names of an issued certificate', () => {
  for (const [issuer, name] of [
    ['https://api.example.com/oauth', 'api.example.com'],
    ['https://192.0.2.10:30443/oauth', '192.0.2.10'],
    ['https://[2001:db8::1]:30443/oauth', '2001:db8::1'],
  ] as const) {
    it(`include the host of the issuer ${issuer}`, () => {
      const text = [
        'apiVersion: config.platform.io/v1alpha1',
        'kind: APIServerConfiguration',
        `oauth: {issuer: "${issuer}"}`,
        'gateway: {proxyHost: pages.example.net}',
      ].join('\n');
      const config = decodeConfiguration({ source: 'test', text });
      const platform = { ...config.platform, namespace: 'acme-system' };
      const names = issuedNames({ ...config, platform }, 'pod-0');
      expect(names).to.include.members([name, 'pages.example.net', 'ks-apiserver.acme-system.svc', 'pod-0']);
      expect(names).to.not.include('');
    });
  }
});
