// Tests of the kubeconfig for kubelogin. The end-to-end tests use it with kubectl and kubelogin.
import { expect } from 'chai';
import { parse } from 'yaml';
import { kubeloginKubeconfig } from '../../../../apis/oauth/kubelogin-kubeconfig.ts';

const ADDRESSES = {
  name: 'acme',
  issuer: 'https://api.example.com:8443/oauth',
  server: 'https://kubernetes.example.com',
};

describe('the kubeconfig for kubelogin', () => {
  it('has each address with its CA, one context, and no secret', () => {
    const text = kubeloginKubeconfig({ ...ADDRESSES, issuerCA: 'the CA', serverCA: 'another CA' });
    const data = (ca: string): string => Buffer.from(ca).toString('base64');
    const { users, ...config } = parse(text) as { users: [{ user: { exec: { args: string[] } } }] };
    expect(config).to.deep.equal({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'acme',
          cluster: { server: ADDRESSES.server, 'certificate-authority-data': data('another CA') },
        },
      ],
      contexts: [{ name: 'acme', context: { cluster: 'acme', user: 'acme' } }],
      'current-context': 'acme',
    });
    expect(users[0].user.exec.args).to.deep.equal([
      'get-token',
      `--oidc-issuer-url=${ADDRESSES.issuer}`,
      '--oidc-client-id=kubectl',
      '--oidc-use-access-token',
      `--certificate-authority-data=${data('the CA')}`,
    ]);
  });

  it('has no CA if the machine of the user trusts the server', () => {
    expect(kubeloginKubeconfig(ADDRESSES)).to.not.contain('certificate-authority');
  });

  it('opens no browser with the device flow', () => {
    const text = kubeloginKubeconfig({ ...ADDRESSES, deviceCode: true, clientID: 'cli' });
    expect(text).to.contain('--grant-type=device-code').and.contain('--skip-open-browser');
    expect(text).to.contain('--oidc-client-id=cli');
  });
});
