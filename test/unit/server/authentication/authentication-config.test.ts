// Tests of the watch of the ConfigMap kube-system/extension-apiserver-authentication, against a fake kube-apiserver.
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ClusterAuthentication } from '../../../../server/authentication/authentication-config.ts';
import type { ClusterClient } from '../../../../server/cluster/connection/client.ts';
import { type Issued, newCA } from '../../../support/certificates.ts';

/** Fake kube-apiserver that serves one watch of the ConfigMap. The test sends the watch events. */
class WatchedConfigMap {
  readonly #server: Server;
  readonly #opened = Promise.withResolvers<ServerResponse>();
  readonly client: ClusterClient;
  path = '';
  #version = 1;

  constructor() {
    this.#server = createServer((request, response) => {
      this.path = request.url ?? '';
      this.#opened.resolve(response);
    });
    this.client = {
      open: async ({ path, signal }) => {
        const { port } = this.#server.address() as AddressInfo;
        const sent = get({ host: '127.0.0.1', port, path, signal, agent: false });
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        return response;
      },
      json: () => Promise.reject(new Error('not used')),
    };
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async send(
    type: string,
    data: Record<string, string>,
    annotations: Record<string, string> = {},
  ): Promise<void> {
    const resourceVersion = String(++this.#version);
    const metadata = {
      name: 'extension-apiserver-authentication',
      namespace: 'kube-system',
      resourceVersion,
      annotations,
    };
    const response = await this.#opened.promise;
    response.write(
      `${JSON.stringify({ type, object: { kind: 'ConfigMap', apiVersion: 'v1', metadata, data } })}\n`,
    );
  }

  async list(data: Record<string, string>): Promise<void> {
    await this.send('ADDED', data);
    await this.send('BOOKMARK', {}, { 'k8s.io/initial-events-end': 'true' });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
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
    source = new WatchedConfigMap();
    await source.listen();
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

  const data = (): Record<string, string> => ({
    'client-ca-file': ca.cert,
    'requestheader-client-ca-file': ca.cert,
    'requestheader-username-headers': '["X-Who"]',
  });

  async function first(): Promise<void> {
    const known = changed();
    await source.list(data());
    await known;
  }

  it('are undefined until the list is complete', async () => {
    expect(settings.current()).to.equal(undefined);
    expect(settings.clientCAs()).to.deep.equal([]);
    await first();
    expect(settings.current()).to.include({ generation: 1 });
    expect(source.path).to.contain('fieldSelector=metadata.name%3Dextension-apiserver-authentication');
  });

  it('return each CA once, and every identity header', async () => {
    await first();
    expect(settings.clientCAs()).to.have.length(1);
    expect(settings.identityHeaders()).to.deep.equal(['x-remote-', 'x-who']);
  });

  it('warn when every client certificate of the cluster can act as front proxy', async () => {
    await first();
    expect(warnings.join()).to.contain('can act as front proxy');
  });

  it('keep the current settings when the ConfigMap is invalid', async () => {
    await first();
    await source.send('MODIFIED', { ...data(), 'requestheader-allowed-names': 'front-proxy-client' });
    const next = changed();
    await source.send('MODIFIED', { ...data(), 'requestheader-allowed-names': '["x"]' });
    await next;
    expect(settings.current()?.generation).to.equal(2);
    expect(warnings.join()).to.contain('is invalid, the current settings stay');
  });

  it('trust no CA when the ConfigMap is deleted', async () => {
    await first();
    const gone = changed();
    await source.send('DELETED', data());
    await gone;
    expect(settings.current()).to.deep.equal({ generation: 2, clientCAs: [], frontProxy: undefined });
  });

  it('notify only of changes', async () => {
    await first();
    const next = changed();
    await source.send('MODIFIED', data());
    await source.send('MODIFIED', { ...data(), 'client-ca-file': '' });
    await next;
    expect(settings.current()).to.deep.include({ generation: 2, clientCAs: [] });
  });

  it('return the CAs of clients and of the front proxy for the handshake', async () => {
    const proxy = await newCA('front proxy');
    const known = changed();
    await source.list({ ...data(), 'requestheader-client-ca-file': proxy.cert });
    await known;
    const own = [ca, proxy].map(({ cert }) => new X509Certificate(cert).toString());
    expect(settings.clientCAs()).to.deep.equal(own);
    expect(warnings).to.deep.equal([]);
  });

  it('return every identity header once, beside the prefix X-Remote-', async () => {
    const known = changed();
    await source.list({
      ...data(),
      'requestheader-username-headers': '["X-Remote-User","X-Who"]',
      'requestheader-uid-headers': '["X-Uid"]',
      'requestheader-group-headers': '["X-Remote-Group","X-Team"]',
      'requestheader-extra-headers-prefix': '["X-More-"]',
    });
    await known;
    expect(settings.identityHeaders()).to.deep.equal(['x-remote-', 'x-who', 'x-uid', 'x-team', 'x-more-']);
  });

  it('return the prefix X-Remote- without a front proxy, and warn', async () => {
    const known = changed();
    await source.list({ 'client-ca-file': ca.cert });
    await known;
    expect(settings.identityHeaders()).to.deep.equal(['x-remote-']);
    expect(warnings).to.deep.equal(['no front proxy: kube-apiserver publishes no request-header CA']);
  });

  it('do not warn of a shared CA when allowed names are set', async () => {
    const known = changed();
    await source.list({ ...data(), 'requestheader-allowed-names': '["front-proxy-client"]' });
    await known;
    expect(warnings).to.deep.equal([]);
  });
});
