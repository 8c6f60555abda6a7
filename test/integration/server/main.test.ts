// Tests of ks-apiserver as a child process: signals, exit codes and output.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import {
  createAuthority,
  issueServing,
  type KeyPair,
} from '../../../server/listener/certificates/certificate-authority.ts';
import { HeldPlugin } from '../../support/held-plugin.ts';
import { get, type Program, SECURE_LISTENER, Workplace } from './program.ts';

const DAY = 24 * 3_600_000;

describe('server/main.ts', () => {
  let workplace: Workplace;

  beforeEach(async () => {
    workplace = await Workplace.make();
  });

  afterEach(() => workplace.remove());

  it('serves health and discovery on the ports that it logs while the cluster is unreachable', async () => {
    const program = await workplace.start();
    const port = await program.port('secure');
    const ca = await workplace.ca();
    expect((await get(port, '/livez', ca)).body).to.equal('ok');
    expect((await get(port, '/apis/resources.platform.io/v1alpha3', ca)).status).to.equal(200);
    const { status, body } = await get(port, '/readyz?verbose', ca);
    expect(status).to.equal(500);
    expect(body)
      .to.match(/^\[\+\]ping ok$/m)
      .and.match(/^\[-\]informer-sync failed/m);

    const insecure = `http://127.0.0.1:${await program.port('insecure')}`;
    expect((await fetch(`${insecure}/livez`)).status).to.equal(200);
    // The version of this server and not that of kube-apiserver, which the gateway returns over TLS.
    expect(await (await fetch(`${insecure}/version`)).json()).to.include({ compiler: 'node' });
    expect((await get(port, '/version', ca)).status).to.equal(503);
    // No aggregated paths over plain HTTP.
    const response = await fetch(`${insecure}/apis`);
    expect(response.status).to.equal(404);
    expect(await response.json()).to.include({ kind: 'Status', reason: 'NotFound' });

    // A port in use is reported in one line.
    const { code, stderr } = await workplace.run(['--config', 'config.yaml', '--secure-port', String(port)])
      .exit;
    expect(code).to.equal(1);
    expect(stderr.trim().split('\n')).to.have.length(1);
    expect(stderr).to.contain(`127.0.0.1:${port}`).and.contain('--secure-port');

    program.signal('SIGINT');
    expect(await program.exit).to.deep.equal({ code: 0, stderr: '' });
    const second = await workplace.start();
    expect((await get(await second.port('secure'), '/livez', ca)).status).to.equal(200);
    second.signal('SIGHUP');
    expect(await second.exit).to.deep.equal({ code: 0, stderr: '' });
  });

  it('is not ready without certificate files until it has read the serving CA from the cluster', async () => {
    const program = await workplace.start({
      listeners: {
        secure: { address: '127.0.0.1', port: 0 },
        insecure: { address: '127.0.0.1', port: 0 },
      },
    });
    await program.port('secure');
    const insecure = `http://127.0.0.1:${await program.port('insecure')}`;
    expect((await fetch(`${insecure}/livez`)).status).to.equal(200);
    expect(await (await fetch(`${insecure}/readyz?verbose`)).text()).to.match(/^\[-\]certificate failed/m);
  });

  it('logs that it waits for a credential plugin, serves meanwhile, and stops gracefully', async () => {
    const plugin = await HeldPlugin.make();
    try {
      const kubeconfig = parse(await readFile(join(workplace.folder, 'no-cluster'), 'utf8'));
      kubeconfig.users[0].user = plugin.user;
      await writeFile(join(workplace.folder, 'held'), stringify(kubeconfig));
      const program = await workplace.start({ kubernetes: { kubeconfig: 'held' } });
      const port = await program.port('secure');
      await program.line({
        level: 'warn',
        message:
          'waiting for the exec plugin "/bin/sh" of the kubeconfig, which provides the credentials for kube-apiserver',
      });
      expect((await get(port, '/livez', await workplace.ca())).status).to.equal(200);
      expect((await get(port, '/readyz', await workplace.ca())).status).to.equal(500);
      program.signal('SIGTERM');
      expect(await program.exit).to.have.property('code', 0);
    } finally {
      await plugin.remove();
    }
  });

  it('fails readiness after SIGTERM before it stops accepting, and opens no disabled plain-HTTP listener', async () => {
    const program = await workplace.start({
      listeners: {
        secure: SECURE_LISTENER,
        insecure: { enabled: false },
      },
      // Long enough for requests in between, even on a busy machine.
      shutdown: { readinessDelay: '5s' },
    });
    const port = await program.port('secure');
    const ca = await workplace.ca();
    expect((await get(port, '/readyz/shutdown', ca)).status).to.equal(200);
    program.signal('SIGTERM');
    await program.line({ message: 'stopping: readiness fails' });
    expect((await get(port, '/readyz/shutdown', ca)).status).to.equal(500);
    expect(await program.exit).to.deep.equal({ code: 0, stderr: '' });
    expect(program.lines.filter((line) => line.includes('"listening"'))).to.have.length(1);
    const refused = await get(port, '/livez', ca).catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'ECONNREFUSED');
  });

  it('exits at once after a second signal, but not after a copy of the first one', async () => {
    const program = await workplace.start({ shutdown: { readinessDelay: '10m' } });
    const port = await program.port('insecure');
    // npm and the terminal both send the signal of Ctrl-C.
    program.signal('SIGINT');
    program.signal('SIGINT');
    await program.line({ message: 'stopping: readiness fails' });
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).to.equal(200);
    const again = setInterval(() => program.signal('SIGINT'), 50);
    const { code } = await program.exit;
    clearInterval(again);
    expect(code).to.equal(130);
  });

  for (const [what, fault] of [
    ['an uncaught error', 'throw new Error("boom")'],
    ['an unhandled rejection', 'Promise.reject(new Error("boom"))'],
  ] as const) {
    it(`logs ${what} and ends with 1`, async () => {
      const program = await workplace.start({}, [
        `data:text/javascript,process.on("SIGUSR2", () => { ${fault} })`,
      ]);
      await program.port('insecure');
      program.signal('SIGUSR2');
      expect(await program.exit).to.have.property('code', 1);
      const fatal = program.lines.filter((line) => line.includes('"level":"fatal"'));
      expect(fatal).to.have.length(1);
      expect(fatal[0]).to.contain('boom');
    });
  }

  it('reports a kubeconfig without a cluster in one line, and exits with 1', async () => {
    await writeFile(join(workplace.folder, 'no-context'), 'apiVersion: v1\nkind: Config\n');
    const { code, stderr } = await workplace.run(['--kubeconfig', 'no-context']).exit;
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^ks-apiserver: kubeconfig: \/.*\/no-context: has no current context; .*use-context NAME\n$/,
    );
  });

  it('reports all validation errors, and exits with 2', async () => {
    await workplace.configure(
      'apiVersion: config.platform.io/v1alpha1\nkind: APIServerConfiguration\nlgo: {}\n',
    );
    const { code, stderr } = await workplace.run(['--config', 'config.yaml', '--log-level', 'loud']).exit;
    expect(code).to.equal(2);
    expect(stderr).to.contain('config.yaml:3:1: lgo: unknown option, did you mean "log"?');
    expect(stderr).to.contain('--log-level: must be one of');
  });

  describe('with certificate files', () => {
    let authority: KeyPair;

    beforeEach(async () => {
      authority = await createAuthority(new Date(), DAY);
    });

    async function write(name: string, key?: string): Promise<void> {
      const leaf = await issueServing(authority, [name], new Date(), DAY);
      await writeFile(join(workplace.folder, 'tls.crt'), leaf.certificate);
      await writeFile(join(workplace.folder, 'tls.key'), key ?? leaf.key);
    }

    async function start(): Promise<Program> {
      const secure = { address: '127.0.0.1', port: 0, certFile: 'tls.crt', keyFile: 'tls.key' };
      return workplace.start({ listeners: { secure, insecure: { enabled: false } } });
    }

    async function servedName(port: number): Promise<string | undefined> {
      const ca = authority.certificate;
      const socket = connect({ host: '127.0.0.1', port, ca, checkServerIdentity: () => undefined });
      await once(socket, 'secureConnect');
      const { subjectaltname } = socket.getPeerCertificate();
      socket.destroy();
      return subjectaltname;
    }

    it('serves a rotated certificate without a restart, and refuses an invalid one', async () => {
      await write('one');
      const program = await start();
      const port = await program.port('secure');
      expect(await servedName(port)).to.equal('DNS:one');
      await write('two');
      await program.line({ message: 'serving certificate reloaded' });
      expect(await servedName(port)).to.equal('DNS:two');
      await write('three', 'no key');
      await program.line({ message: 'new serving certificate refused, the current one stays in use' });
      expect(await servedName(port)).to.equal('DNS:two');
    });
  });
});
