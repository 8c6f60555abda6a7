// Tests of the watch of the ConfigMap kube-system/extension-apiserver-authentication, against a fake kube-apiserver.
import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { ClusterAuthentication } from '../../../../server/authentication/authentication-config.ts';
import type { ClusterClient } from '../../../../server/cluster/connection/client.ts';
import { type Issued, newCA } from '../../../support/certificates.ts';
import {
  bookmark,
  type Call,
  event,
  ScriptedCluster,
  send,
} from '../../../support/cluster/scripted-cluster.ts';

/** Fake kube-apiserver that serves one watch of the ConfigMap. The test sends the watch events. */
class WatchedConfigMap {
  readonly #cluster: ScriptedCluster;
  readonly #opened: Promise<Call>;
  readonly client: ClusterClient;
  #version = 1;

  private constructor(cluster: ScriptedCluster, opened: Promise<Call>) {
    this.#cluster = cluster;
    this.#opened = opened;
    this.client = cluster.connect();
  }

  static async start(): Promise<WatchedConfigMap> {
    const opened = Promise.withResolvers<Call>();
    const cluster = await ScriptedCluster.start((call) => {
      if (call.kind === 'stream') opened.resolve(call);
    });
    return new WatchedConfigMap(cluster, opened.promise);
  }

  /** The query of the watch. */
  async query(): Promise<URLSearchParams> {
    return (await this.#opened).url.searchParams;
  }

  async send(type: 'ADDED' | 'MODIFIED' | 'DELETED', data: Record<string, string>): Promise<void> {
    const resourceVersion = String(++this.#version);
    const metadata = {
      name: 'extension-apiserver-authentication',
      namespace: 'kube-system',
      resourceVersion,
    };
    const { response } = await this.#opened;
    send(response, event(type, JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data })));
  }

  async list(data: Record<string, string>): Promise<void> {
    await this.send('ADDED', data);
    send((await this.#opened).response, bookmark(++this.#version, true));
  }

  async listEmpty(): Promise<void> {
    send((await this.#opened).response, bookmark(++this.#version, true));
  }

  stop(): Promise<void> {
    return this.#cluster.stop();
  }
}

describe('ClusterAuthentication settings', () => {
  let ca: Issued;
  let source: WatchedConfigMap;
  let settings: ClusterAuthentication;
  let warnings: string[];
  let abort: AbortController;
  let running: Promise<void>;

  before(async () => {
    ca = await newCA('cluster');
  });

  beforeEach(async () => {
    source = await WatchedConfigMap.start();
    warnings = [];
    abort = new AbortController();
    settings = new ClusterAuthentication({
      client: source.client,
      log: {
        debug: () => undefined,
        info: () => undefined,
        warn: (_line: unknown, text?: string) => void warnings.push(String(text)),
      },
    });
    running = settings.run(abort.signal);
  });

  afterEach(async () => {
    abort.abort();
    await running;
    await source.stop();
  });

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

  /** Completes the first list, with this ConfigMap. */
  async function first(content = data()): Promise<void> {
    const known = changed();
    await source.list(content);
    await known;
  }

  it('are undefined until the list is complete; a front proxy that shares the CA of clients causes a warning', async () => {
    expect(settings.current()).to.equal(undefined);
    expect(settings.clientCAs()).to.deep.equal([]);
    await first();
    expect(settings.current()).to.include({ generation: 1 });
    expect(settings.clientCAs()).to.have.length(1);
    expect(warnings.join()).to.contain('can act as front proxy');
    expect((await source.query()).get('fieldSelector')).to.equal(
      'metadata.name=extension-apiserver-authentication',
    );
  });

  it('keep the current settings when the ConfigMap is invalid, and notify only of changes', async () => {
    await first();
    await source.send('MODIFIED', data());
    await source.send('MODIFIED', data({ 'requestheader-allowed-names': 'front-proxy-client' }));
    const next = changed();
    await source.send('MODIFIED', data({ 'requestheader-allowed-names': '["x"]' }));
    await next;
    expect(settings.current()?.generation).to.equal(2);
    expect(warnings.join()).to.contain('is invalid, the current settings stay');
  });

  it('trust no CA if the ConfigMap does not exist at the start', async () => {
    const empty = changed();
    await source.listEmpty();
    await empty;
    expect(settings.current()).to.deep.equal({ generation: 1, clientCAs: [], frontProxy: undefined });
  });

  it('stay in use when the ConfigMap is deleted, until it is created again', async () => {
    await first();
    await source.send('DELETED', data());
    const next = changed();
    await source.send('ADDED', { 'client-ca-file': ca.cert });
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
