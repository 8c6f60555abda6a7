// Tests of the aggregated APIs and the health checks while the gateway fails: its upstream is unavailable, or it forwards
// to itself.
import { expect } from 'chai';
import { available } from '../../../hack/extension/registration.ts';
import { until } from '../../support/until.ts';
import type { FallbackPlatform } from './fallback-platform.ts';
import { sharedFallback } from './shared-fallback.ts';

const NODES = '/apis/resources.platform.io/v1alpha3/nodes';

describe('the aggregated APIs while the gateway fails', () => {
  let platform: FallbackPlatform;

  before(async () => {
    platform = await sharedFallback();
  });
  afterEach(async () => {
    const { proxy, passthrough } = platform;
    proxy.thaw();
    proxy.redirect(platform.controlPlane.ports.apiserver);
    proxy.cut();
    await until(async () => (await platform.send(passthrough, 'GET /version')).status === 200);
  });

  /** Nodes through kube-apiserver, health checks, and the conditions of the APIServices. */
  async function expectUnaffected(): Promise<void> {
    const { controlPlane, passthrough } = platform;
    await controlPlane.client.expect(NODES, {}, [200]);
    for (const path of ['/livez', '/readyz']) {
      expect((await platform.send(passthrough, `GET ${path}`)).status, path).to.equal(200);
    }
    await available(controlPlane, platform.platform.signal);
  }

  it('work while kube-apiserver does not respond to the gateway', async () => {
    const { proxy, passthrough } = platform;
    proxy.freezeNew();
    proxy.freeze();
    const pending = platform.send(passthrough, 'GET /version?timeout=2s');
    await expectUnaffected();
    const { status, body } = await pending;
    expect(status, body.toString('utf8')).to.equal(504);
    await expectUnaffected();
  });

  it('work while the address of kube-apiserver refuses connections of the gateway', async () => {
    const { proxy, passthrough } = platform;
    proxy.redirect(1);
    proxy.cut();
    const { status, body } = await platform.send(passthrough, 'GET /version');
    expect(status).to.equal(503);
    expect(body.toString('utf8')).to.contain('kube-apiserver is unreachable');
    await expectUnaffected();
  });

  it('detect a kubeconfig that selects this server', async () => {
    const { proxy, passthrough } = platform;
    proxy.redirect(Number(new URL(passthrough.url).port));
    proxy.cut();
    const { status, body } = await platform.send(passthrough, 'GET /version');
    expect(status).to.equal(508);
    expect(body.toString('utf8')).to.contain('the gateway forwards to itself');
    await expectUnaffected();
  });

  it('never forward a request that kube-apiserver has forwarded', async () => {
    const { controlPlane, passthrough } = platform;
    const headers = ['X-Remote-User: root', 'X-Remote-Group: system:masters'];
    const pair = controlPlane.pki.frontProxyClient;
    for (const path of ['/api/v1/namespaces', '/apis/apps/v1/deployments', '/version']) {
      const reply = await platform.send(passthrough, `GET ${path}`, { pair, headers });
      const auditID = reply.header('audit-id') ?? '';
      expect(auditID).to.not.equal('');
      expect(await platform.gateway.auditLog.records(auditID), path).to.deep.equal([]);
      expect(reply.status, path).to.equal(path === '/version' ? 200 : 404);
    }
  });
});
