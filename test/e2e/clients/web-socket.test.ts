// Tests of watches over WebSocket. Browsers and the Java client fabric8 use WebSocket watches.
import { expect } from 'chai';
import type { KeyPair } from '../../../hack/control-plane/certificate-authority.ts';
import { WebSocketClient } from '../../support/web-socket-client.ts';
import { NODES, type Platform } from '../platform.ts';
import { sharedPlatform } from '../shared-platform.ts';

const CORE = '/api/v1/nodes';
const OURS = '/apis/resources.platform.io/v1alpha3/nodes';

describe('watch over WebSocket, through the aggregation layer and directly', () => {
  let platform: Platform;
  let administrator: KeyPair;
  const clients: WebSocketClient[] = [];

  before(async () => {
    platform = await sharedPlatform();
    administrator = await platform.controlPlane.pki.issueClient({ cn: 'admin', o: ['system:masters'] });
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });

  async function watch(url: string, path: string, origin: string): Promise<WebSocketClient> {
    const { ca } = platform.controlPlane;
    const client = await WebSocketClient.connect({
      url: `${url.replace(/^https/, 'wss')}${path}`,
      tls: { ca, ...administrator, servername: 'localhost' },
      headers: { Origin: origin },
      protocols: ['base64.binary.k8s.io'],
    });
    clients.push(client);
    return client;
  }

  it('sends the messages that kube-apiserver sends for core nodes', async () => {
    const { url } = platform.controlPlane;
    const query = '?watch=true&allowWatchBookmarks=true';
    const core = await watch(url, CORE + query, url);
    const ours = await watch(url, OURS + query, url);
    for (const client of [core, ours]) {
      expect(client.status).to.equal(101);
      expect(client.headers['sec-websocket-protocol']).to.equal('base64.binary.k8s.io');
    }
    expect((await ours.texts(NODES)).map(ofCore)).to.deep.equal(await core.texts(NODES));
    for (const client of [core, ours]) expect(await client.texts(1)).to.match(/initial-events-end/);
    await platform.succeeding('label node node-00001 watched=yes');
    expect((await ours.texts(1)).map(ofCore)).to.deep.equal(await core.texts(1));
  });

  it('rejects other origins when a browser connects directly', async () => {
    const { url } = platform.server;
    const own = await watch(url, `${OURS}?watch=true`, url);
    expect((await own.next())[0]).to.equal('text');
    expect((await watch(url, `${OURS}?watch=true`, 'https://elsewhere.example')).status).to.equal(403);
  });
});

function ofCore(text: string): string {
  return text.replace('resources.platform.io/v1alpha3', 'v1');
}
