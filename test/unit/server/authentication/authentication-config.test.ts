// Tests of the watch of the ConfigMap kube-system/extension-apiserver-authentication, against a fake kube-apiserver.
import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { ClusterAuthentication } from '../../../../server/authentication/authentication-config.ts';
import { type Issued, newCA } from '../../../support/certificates.ts';
import {
  bookmark,
  type Call,
  event,
  ScriptedCluster,
  send,
} from '../../../support/cluster/scripted-cluster.ts';

const IDENTITY = { name: 'extension-apiserver-authentication', namespace: 'kube-system' };

describe('ClusterAuthentication settings', () => {
  let ca: Issued;
  let cluster: ScriptedCluster;
  /** The watch of the ConfigMap. */
  let watched: Promise<Call>;
  let version: number;
  let settings: ClusterAuthentication;
  let warnings: string[];
  let abort: AbortController;
  let running: Promise<void>;

  before(async () => {
    ca = await newCA('cluster');
  });

  beforeEach(async () => {
    const { promise, resolve } = Promise.withResolvers<Call>();
    watched = promise;
    version = 1;
    cluster = await ScriptedCluster.start((call) => {
      if (call.kind === 'stream') resolve(call);
    });
    warnings = [];
    abort = new AbortController();
    const log = {
      debug: () => undefined,
      info: () => undefined,
      warn: (_line: unknown, text?: string) => void warnings.push(String(text)),
    };
    settings = new ClusterAuthentication({ client: cluster.connect(), log });
    running = settings.run(abort.signal);
  });

  afterEach(async () => {
    abort.abort();
    await running;
    await cluster.stop();
  });

  /** Sends an event of the ConfigMap. */
  async function change(type: 'ADDED' | 'MODIFIED' | 'DELETED', content: object): Promise<void> {
    const metadata = { ...IDENTITY, resourceVersion: String(++version) };
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata, data: content };
    send((await watched).response, event(type, JSON.stringify(object)));
  }

  function changed(): Promise<void> {
    return new Promise((resolve) => {
      const end = settings.subscribe(() => {
        end();
        resolve();
      });
    });
  }

  const data = (more: Record<string, string> = {}): Record<string, string> => ({
    'client-ca-file': ca.cert,
    'requestheader-client-ca-file': ca.cert,
    'requestheader-username-headers': '["X-Who"]',
    ...more,
  });

  /** Completes the first list, with this ConfigMap or none. */
  async function first(content: object | null = data()): Promise<void> {
    const known = changed();
    if (content) await change('ADDED', content);
    send((await watched).response, bookmark(++version, true));
    await known;
  }

  it('are undefined until the list is complete; a front proxy that shares the CA of clients causes a warning', async () => {
    expect(settings.current()).to.equal(undefined);
    expect(settings.clientCAs()).to.deep.equal([]);
    await first();
    expect(settings.current()).to.include({ generation: 1 });
    expect(settings.clientCAs()).to.have.length(1);
    expect(warnings.join()).to.contain('can act as front proxy');
    const { url } = await watched;
    expect(url.searchParams.get('fieldSelector')).to.equal(`metadata.name=${IDENTITY.name}`);
  });

  it('keep the current settings when the ConfigMap is invalid, and notify only of changes', async () => {
    await first();
    await change('MODIFIED', data());
    await change('MODIFIED', data({ 'requestheader-allowed-names': 'front-proxy-client' }));
    const next = changed();
    await change('MODIFIED', data({ 'requestheader-allowed-names': '["x"]' }));
    await next;
    expect(settings.current()?.generation).to.equal(2);
    expect(warnings.join()).to.contain('is invalid, the current settings stay');
  });

  it('trust no CA if the ConfigMap does not exist at the start', async () => {
    await first(null);
    expect(settings.current()).to.deep.equal({ generation: 1, clientCAs: [], frontProxy: undefined });
  });

  it('stay in use when the ConfigMap is deleted, until it is created again', async () => {
    await first();
    await change('DELETED', data());
    const next = changed();
    await change('ADDED', { 'client-ca-file': ca.cert });
    await next;
    expect(settings.current()).to.deep.include({ generation: 2, frontProxy: undefined });
  });

  it('return the CAs of clients and of the front proxy for the handshake', async () => {
    const proxy = await newCA('front proxy');
    await first(data({ 'requestheader-client-ca-file': proxy.cert }));
    const own = [ca, proxy].map(({ cert }) => new X509Certificate(cert).toString());
    expect(settings.clientCAs()).to.deep.equal(own);
    expect(warnings).to.deep.equal([]);
  });

  it('return every identity header once, beside the prefix X-Remote-', async () => {
    const headers = {
      'requestheader-username-headers': '["X-Remote-User","X-Who"]',
      'requestheader-uid-headers': '["X-Uid"]',
      'requestheader-group-headers': '["X-Remote-Group","X-Team"]',
      'requestheader-extra-headers-prefix': '["X-More-"]',
    };
    await first(data(headers));
    expect(settings.identityHeaders()).to.deep.equal(['x-remote-', 'x-who', 'x-uid', 'x-team', 'x-more-']);
  });

  it('return the prefix X-Remote- without a front proxy, and warn', async () => {
    await first({ 'client-ca-file': ca.cert });
    expect(settings.identityHeaders()).to.deep.equal(['x-remote-']);
    expect(warnings).to.deep.equal(['no front proxy: kube-apiserver publishes no request-header CA']);
  });
});
