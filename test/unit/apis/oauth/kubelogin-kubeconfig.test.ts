// Tests of the kubeconfig for kubelogin. The end-to-end tests use it with kubectl and kubelogin.
import { expect } from 'chai';
import { parse } from 'yaml';
import { kubeloginKubeconfig } from '../../../../apis/oauth/kubelogin-kubeconfig.ts';

const ISSUER = 'https://api.example.com:8443/oauth';

describe('the kubeconfig for kubelogin', () => {
  it('has the CA of the host of the issuer, for kubectl and for kubelogin', () => {
    const hosts: string[] = [];
    const caAt = (host: string): string => (hosts.push(host), 'the CA');
    const config: unknown = parse(kubeloginKubeconfig({ name: 'acme', issuer: ISSUER, caAt }));
    const data = Buffer.from('the CA').toString('base64');
    expect(hosts).to.deep.equal(['api.example.com']);
    expect(config).to.deep.include({
      clusters: [
        {
          name: 'acme',
          cluster: { server: 'https://api.example.com:8443', 'certificate-authority-data': data },
        },
      ],
      contexts: [{ name: 'acme', context: { cluster: 'acme', user: 'acme' } }],
      'current-context': 'acme',
    });
    expect(JSON.stringify(config)).to.contain(`--certificate-authority-data=${data}`);
  });

  it('has no CA if the machine of the user trusts the server', () => {
    const text = kubeloginKubeconfig({ name: 'acme', issuer: ISSUER, caAt: () => undefined });
    expect(text).to.contain('--oidc-use-access-token').and.not.contain('certificate-authority');
  });
});
