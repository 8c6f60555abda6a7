// Tests of `ks-apiserver kubeconfig` without a cluster. The end-to-end tests of kubelogin use its output.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { apiVersionOf, KIND } from '../../../../apis/config/v1alpha1/configuration.ts';
import { runCommand } from '../../../../server/commands/commands.ts';
import { readEnvironment } from '../../../../server/config/environment.ts';
import {
  createAuthority,
  issueServing,
} from '../../../../server/listener/certificates/certificate-authority.ts';
import { scratchFolderEach } from '../../../support/scratch.ts';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Kubeconfig {
  readonly clusters: [{ readonly name: string; readonly cluster: Record<string, string> }];
  readonly users: [{ readonly user: { readonly exec: { readonly args: string[] } } }];
}

const DAY = 24 * 3_600_000;
const ISSUER = 'https://api.example.com:8443/oauth';

describe('ks-apiserver kubeconfig', () => {
  const folder = scratchFolderEach();

  async function run(...args: string[]): Promise<Ended> {
    let [stdout, stderr] = ['', ''];
    const code = await runCommand('kubeconfig', {
      args,
      environment: readEnvironment({ HOME: '/nonexistent' }, 'host'),
      workingDirectory: folder(),
      input: Readable.from([]),
      print: (text) => (stdout += text),
      printError: (text) => (stderr += text),
    });
    return { code, stdout, stderr };
  }

  async function printed(...args: string[]): Promise<Kubeconfig> {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    return parse(stdout) as Kubeconfig;
  }

  async function configured(sections: object): Promise<void> {
    const file = { apiVersion: apiVersionOf('acme'), kind: KIND, platform: { name: 'acme' }, ...sections };
    await writeFile(join(folder(), 'config.yaml'), stringify(file));
  }

  const base64 = (text: string): string => Buffer.from(`${text.trim()}\n`).toString('base64');

  it('has the issuer, the name and the CA of the configuration', async () => {
    const authority = await createAuthority(new Date(), DAY);
    const leaf = await issueServing(authority, ['api.example.com'], new Date(), DAY);
    await writeFile(join(folder(), 'tls.crt'), leaf.certificate);
    await writeFile(join(folder(), 'ca.crt'), authority.certificate);
    const secure = { certFile: 'tls.crt', keyFile: 'tls.key', caFile: 'ca.crt' };
    await configured({ listeners: { secure }, oauth: { issuer: ISSUER } });
    const { clusters, users } = await printed('--config', 'config.yaml');
    const data = base64(authority.certificate);
    const cluster = { server: 'https://api.example.com:8443', 'certificate-authority-data': data };
    expect(clusters).to.deep.equal([{ name: 'acme', cluster }]);
    expect(users[0].user.exec.args).to.deep.equal([
      'get-token',
      `--oidc-issuer-url=${ISSUER}`,
      '--oidc-client-id=kubectl',
      '--oidc-use-access-token',
      `--certificate-authority-data=${data}`,
    ]);
    // A proxy has another certificate there.
    const proxied = await run('--config', 'config.yaml', '--issuer', 'https://proxy.example.com/oauth');
    expect(proxied.stdout).to.contain('proxy.example.com').and.not.contain('certificate-authority');
  });

  it('takes all of it from flags, and only the certificates of a file', async () => {
    const issuing = await createAuthority(new Date(), DAY);
    const cluster = await createAuthority(new Date(), DAY);
    await writeFile(join(folder(), 'ca.pem'), `${issuing.key}${issuing.certificate}`);
    await writeFile(join(folder(), 'cluster.pem'), cluster.certificate);
    const server = 'https://kubernetes.example.com:6443';
    const { clusters, users } = await printed(
      ...['--issuer', ISSUER, '--certificate-authority', 'ca.pem', '--client-id', 'cli', '--device-code'],
      ...['--server', server, '--server-certificate-authority', 'cluster.pem', '--name', 'prod'],
    );
    const trusted = { server, 'certificate-authority-data': base64(cluster.certificate) };
    expect(clusters).to.deep.equal([{ name: 'prod', cluster: trusted }]);
    const { args } = users[0].user.exec;
    expect(args).to.include.members(['--oidc-client-id=cli', '--grant-type=device-code']);
    expect(args.at(-1)).to.equal(`--certificate-authority-data=${base64(issuing.certificate)}`);
  });

  it('trusts no other address with the CA of the issuer', async () => {
    const { certificate } = await createAuthority(new Date(), DAY);
    await writeFile(join(folder(), 'ca.pem'), certificate);
    const ca = ['--certificate-authority', 'ca.pem'];
    const { clusters } = await printed('--issuer', ISSUER, ...ca, '--server', 'https://other.example.com');
    expect(clusters[0].cluster).to.deep.equal({ server: 'https://other.example.com' });
  });

  const CONFIGURED = ['--config', 'config.yaml'];
  const FILES: readonly [what: string, sections: object, args: readonly string[], message: string][] = [
    ['no issuer', {}, CONFIGURED, 'the configuration has no oauth.issuer: set it, or pass --issuer URL'],
    [
      'no sign-in',
      { oauth: { enabled: false } },
      CONFIGURED,
      'oauth.enabled is false: the server has no sign-in',
    ],
    [
      'no gateway',
      { gateway: { enabled: false }, oauth: { issuer: ISSUER } },
      CONFIGURED,
      'gateway.enabled is false: pass the address of kube-apiserver with --server URL',
    ],
    [
      'plain HTTP',
      {},
      ['--issuer', 'http://api.example.com/oauth'],
      '--issuer must be an https URL without user, query and fragment',
    ],
    [
      'an issuer without its path',
      {},
      ['--issuer', 'https://api.example.com'],
      '--issuer must have the path /oauth',
    ],
    [
      'a password in an address',
      {},
      ['--issuer', ISSUER, '--server', 'https://a:b@x.example.com'],
      '--server must be an https URL without user, query and fragment',
    ],
    [
      'a CA of no other server',
      {},
      ['--issuer', ISSUER, '--server-certificate-authority', 'ca.pem'],
      '--server-certificate-authority is only valid with another --server',
    ],
    [
      'a missing CA file',
      {},
      ['--issuer', ISSUER, '--certificate-authority', 'no.pem'],
      'no.pem: no such file',
    ],
    [
      'a CA file without a certificate',
      {},
      ['--issuer', ISSUER, '--certificate-authority', 'config.yaml'],
      'config.yaml: it contains no certificate in PEM format',
    ],
  ];
  for (const [what, sections, args, message] of FILES) {
    it(`rejects ${what}`, async () => {
      await configured(sections);
      expect(await run(...args)).to.deep.equal({ code: 2, stdout: '', stderr: `ks-apiserver: ${message}\n` });
    });
  }
});
