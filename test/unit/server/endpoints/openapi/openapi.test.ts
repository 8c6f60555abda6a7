// Tests of the handlers of /openapi/v2 and /openapi/v3.
import { expect } from 'chai';
import { pino } from 'pino';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { record } from '../../../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../../../../server/cluster/connection/client.ts';
import { OpenAPI } from '../../../../../server/endpoints/openapi/openapi.ts';
import { nodes } from '../../../../support/cluster/node-cache.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';
import { routed } from '../../../../support/routed.ts';

const V3 = '/openapi/v3/apis/resources.platform.io/v1alpha3';
const NODE = 'io.platform.resources.v1alpha3.Node';
const PREFIX = '#/components/schemas/';

/** A cluster whose OpenAPI document gets one more property with each version. */
class DescribedCluster implements ClusterClient {
  version = 1;
  reachable = true;
  requests = 0;

  open(): Promise<never> {
    return Promise.reject(new Error('not expected here'));
  }

  json({ path }: { readonly path: string }): Promise<unknown> {
    this.requests += 1;
    if (!this.reachable) return Promise.reject(newServiceUnavailable('down'));
    if (path === '/openapi/v3') {
      return Promise.resolve({
        paths: { 'api/v1': { serverRelativeURL: `/openapi/v3/api/v1?hash=${this.version}` } },
      });
    }
    const gvk = [{ group: '', version: 'v1', kind: 'Node' }];
    return Promise.resolve({
      components: {
        schemas: {
          'core.Node': {
            type: 'object',
            properties: {
              self: { allOf: [{ $ref: `${PREFIX}core.Node` }], default: {} },
              spec: { allOf: [{ $ref: `${PREFIX}core.Spec` }], default: {}, description: `v${this.version}` },
              port: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
            },
            'x-kubernetes-group-version-kind': gvk,
          },
          'core.Spec': { type: 'object', properties: { oneOf: { type: 'string', nullable: true } } },
          'core.Pod': { type: 'object' },
        },
      },
    });
  }
}

describe('OpenAPI', () => {
  let cluster: DescribedCluster;
  let openAPI: OpenAPI;
  let warnings: string[];
  let server: HandlerServer;
  const stop = new AbortController();
  const runs: Promise<void>[] = [];

  beforeEach(async () => {
    cluster = new DescribedCluster();
    warnings = [];
    openAPI = new OpenAPI({
      resources: [nodes],
      title: 'platform',
      version: 'v1',
      client: cluster,
      log: pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) }),
      refreshMs: 5,
      retryMs: 5,
    });
    server = await new HandlerServer(routed(openAPI.router())).start();
  });

  afterEach(() => server.close());

  after(async () => {
    stop.abort();
    await Promise.all(runs);
  });

  /** Polls the v3 document until its text fits. */
  async function until(fits: (text: string) => boolean): Promise<Readonly<Record<string, unknown>>> {
    for (;;) {
      const { body } = await server.ask(V3);
      if (fits(body.toString())) return record(JSON.parse(body.toString()));
    }
  }

  function follow(): void {
    runs.push(openAPI.run(stop.signal));
  }

  it('logs an outage of the cluster once', async () => {
    cluster.reachable = false;
    follow();
    await until(() => cluster.requests > 3);
    expect(warnings).to.have.length(1);
  });

  it('converts it to v2', async () => {
    follow();
    await until((text) => text.includes('core.Spec'));
    const document = await server.json('/openapi/v2');
    const node = record(record(document['definitions'])[NODE]);
    expect(node['properties']).to.deep.equal({
      self: { $ref: `#/definitions/${NODE}` },
      spec: { description: 'v1', $ref: '#/definitions/core.Spec' },
      port: { format: 'int-or-string', type: 'string' },
    });
    // The name of a property may be a keyword of JSON Schema.
    expect(record(document['definitions'])['core.Spec']).to.deep.equal({
      type: 'object',
      properties: { oneOf: { type: 'string' } },
    });
  });

  it('refreshes after an upgrade of the cluster', async () => {
    follow();
    await until((text) => text.includes('"v1"'));
    const before = (await server.ask('/openapi/v3')).headers['etag'];
    expect((await server.ask('/openapi/v2')).body.toString()).to.include('"description":"v1"');
    cluster.version = 2;
    await until((text) => text.includes('"description":"v2"'));
    expect((await server.ask('/openapi/v2')).body.toString()).to.include('"description":"v2"');
    expect((await server.ask('/openapi/v3')).headers['etag']).not.to.equal(before);
  });

  it('is immutable for the current hash, and never redirects', async () => {
    const index = await server.json('/openapi/v3');
    const url = String(
      record(record(index['paths'])['apis/resources.platform.io/v1alpha3'])['serverRelativeURL'],
    );
    const right = await server.ask(url);
    expect(right.headers['cache-control']).to.contain('immutable');
    expect(url).to.equal(`${V3}?hash=${String(right.headers['etag']).replaceAll('"', '')}`);
    const wrong = await server.ask(`${V3}?hash=00`);
    expect(wrong.status).to.equal(200);
    expect(wrong.headers['cache-control']).not.to.contain('immutable');
    expect(wrong.body.equals(right.body)).to.equal(true);
    const again = await server.ask(url, { headers: { 'If-None-Match': String(right.headers['etag']) } });
    expect(again.status).to.equal(304);
  });

  it('accepts JSON among other types, and has no protobuf', async () => {
    const protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
    const status = async (accept: string): Promise<number> =>
      (await server.ask('/openapi/v2', { headers: { Accept: accept } })).status;
    expect(await status('application/json')).to.equal(200);
    expect(await status('application/*')).to.equal(200);
    expect(await status(`${protobuf}, */*`)).to.equal(200);
    expect(await status(protobuf)).to.equal(406);
  });
});
