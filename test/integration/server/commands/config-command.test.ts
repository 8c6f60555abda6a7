// Tests of `ks-apiserver config check` as a child process, against the start of the server with the same file.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { decodeConfiguration } from '../../../../apis/config/v1alpha1/decode.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { type CommandSetting, type Ended, runCommand } from './started-command.ts';

const HEAD = { apiVersion: 'config.platform.io/v1alpha1', kind: 'APIServerConfiguration' };

describe('ks-apiserver config check', () => {
  let folder: Awaited<ReturnType<typeof scratchFolder>>;
  before(async () => {
    folder = await scratchFolder();
  });
  after(() => folder[Symbol.asyncDispose]());

  const run = (args: readonly string[], setting: CommandSetting = {}): Promise<Ended> =>
    runCommand(args, { cwd: folder.path, ...setting });

  async function check(options: object): Promise<Ended> {
    await writeFile(join(folder.path, 'c.yaml'), stringify({ ...HEAD, ...options }));
    return run(['config', 'check', 'c.yaml']);
  }

  it('prints the effective configuration, which is valid and gives itself again', async () => {
    const options = {
      log: { level: 'debug' },
      oauth: {
        issuer: 'https://platform.example.com/oauth',
        clients: [
          {
            id: 'argo',
            redirectURIs: ['https://argo.example.com/cb'],
            secretRef: { name: 'ks-apiserver-clients' },
          },
        ],
        identityProviders: [
          { name: 'dex', type: 'oidc', oidc: { issuer: 'https://dex.example.com', clientID: 'ks' } },
        ],
      },
    };
    const { code, stdout, stderr } = await check(options);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(parse(stdout)).to.deep.include({ ...HEAD, log: { level: 'debug' } });
    const decoded = (text: string) => decodeConfiguration({ source: 'c.yaml', text });
    expect(decoded(stdout)).to.deep.equal(decoded(stringify({ ...HEAD, ...options })));
    expect(await run(['config', 'check', '-'], { input: stdout })).to.deep.equal({ code, stdout, stderr });
  });

  it('reports validation errors as the server does', async () => {
    const { code, stdout, stderr } = await check({ lgo: {}, shutdown: { readinessDelay: 'soon' } });
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(stderr).to.contain('c.yaml:3:1: lgo: unknown option, did you mean "log"?');
    expect(await run(['--config', 'c.yaml'])).to.deep.equal({ code, stdout, stderr });
  });

  it('reports unreadable files as the server does', async () => {
    const missing = await run(['config', 'check', 'missing.yaml']);
    expect(missing).to.deep.equal({
      code: 2,
      stdout: '',
      stderr: 'ks-apiserver: missing.yaml: no such file\n',
    });
    expect(await run(['--config', 'missing.yaml'])).to.deep.equal(missing);
    const kubernetes = await check({ kubernetes: { kubeconfig: 'admin.conf' } });
    expect(kubernetes.code).to.equal(2);
    expect((await run(['--config', 'c.yaml'])).stderr).to.equal(kubernetes.stderr);
    const secure = { certFile: 'tls.crt', keyFile: 'tls.key' };
    const certificate = await check({ listeners: { secure } });
    expect(certificate.code).to.equal(2);
    const reason = `${join(folder.path, 'tls.crt')}: no such file; correct it, or remove certFile and keyFile for an issued one\n`;
    expect(certificate.stderr).to.equal(
      `ks-apiserver: serving certificate ${join(folder.path, 'tls.crt')}: ${reason}`,
    );
  });

  it('warns of removed options, and of unreadable files that the server starts without', async () => {
    const secretFiles = ['secret'];
    const clients = [{ id: 'argo', redirectURIs: ['https://argo.example.com/cb'], secretFiles }];
    const { code, stdout, stderr } = await check({ gateway: { maxRequests: 5 }, oauth: { clients } });
    expect(code).to.equal(0);
    expect(stderr.trim().split('\n')).to.deep.equal([
      'ks-apiserver: warning: gateway.maxRequests is removed and has no effect; it is replaced by requests.seats',
      `ks-apiserver: warning: oauth.clients.secretFiles: ${join(folder.path, 'secret')}: no such file`,
    ]);
    expect(stdout).to.not.contain('maxRequests');
  });

  it('prints no content of the files that it names', async () => {
    await writeFile(join(folder.path, 'secret'), 'correct horse battery staple');
    const clients = [{ id: 'argo', redirectURIs: ['https://argo.example.com/cb'], secretFiles: ['secret'] }];
    const { code, stdout, stderr } = await check({ oauth: { clients } });
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.contain(join(folder.path, 'secret')).and.not.contain('correct horse');
  });

  it('needs a file outside a container of the server', async () => {
    const { code, stderr } = await run(['config', 'check']);
    expect([code, stderr]).to.deep.equal([2, 'ks-apiserver: check needs a file: check FILE\n']);
  });
});
