// Tests of the writes that the gateway reads from responses, with a scripted kube-apiserver.
import { expect } from 'chai';
import { noteWrite } from '../../../../server/gateway/written-object.ts';
import { RecentWrites, type Write } from '../../../../server/resources/recent-writes.ts';
import { HandlerServer } from '../../../support/handler-server.ts';

/** The fields that the filter chain adds. */
const FORWARDED = {
  atProxyHost: false,
  maxBodyBytes: 0,
  longRunning: false,
  source: undefined,
  abortReason: undefined,
  onAbort: undefined,
};
const PODS = '/api/v1/namespaces/a/pods';

class RecordedWrites extends RecentWrites {
  readonly added: Write[] = [];

  override add(_user: object, _kind: object, write: Write): void {
    this.added.push(write);
  }
}

describe('noteWrite', () => {
  let body: object | string;
  let code: number;
  let type: string;
  let upstream: HandlerServer;
  let gateway: HandlerServer;
  let writes: RecordedWrites;

  beforeEach(async () => {
    [body, code, type] = [{}, 200, 'application/json'];
    writes = new RecordedWrites(({ plural }) => plural !== 'tokenreviews');
    upstream = await new HandlerServer(({ response }) => {
      response.writeHead(code, { 'Content-Type': type });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    }).start();
    gateway = await new HandlerServer(async (context) => {
      const { method = '' } = context.request;
      const received = await upstream.open('/', { method });
      const observer = noteWrite(
        { ...context, ...FORWARDED },
        { statusCode: received.statusCode ?? 0, headers: received.headers },
        writes,
      );
      received.on('data', (chunk: Buffer) => observer?.data(chunk)).on('end', () => observer?.ended());
      received.pipe(context.response);
    }).start();
  });
  afterEach(() => Promise.all([gateway.close(), upstream.close()]));

  /** Returns the writes that are noted when the client has the response. */
  async function noted(method: string, path: string): Promise<readonly Write[]> {
    await gateway.ask(path, { method });
    return writes.added.splice(0);
  }

  it('finds the resourceVersion of the object, also after the write of a subresource', async () => {
    body = { metadata: { resourceVersion: '9007199254740993' } };
    const written = [{ version: 9_007_199_254_740_993n }];
    expect(await noted('POST', PODS)).to.deep.equal(written);
    expect(await noted('PATCH', `${PODS}/p/status`)).to.deep.equal(written);
    expect(await noted('PUT', '/apis/apps/v1/namespaces/a/deployments/d/scale')).to.deep.equal(written);
  });

  it('finds the key and the UID of a deleted object', async () => {
    body = { kind: 'Status', details: { uid: 'u' } };
    expect(await noted('DELETE', `${PODS}/p`)).to.deep.equal([{ key: 'a/p', uid: 'u' }]);
    expect(await noted('DELETE', '/api/v1/namespaces/a')).to.deep.equal([{ key: 'a', uid: 'u' }]);
    expect(await noted('DELETE', '/api/v1/nodes/n')).to.deep.equal([{ key: 'n', uid: 'u' }]);
  });

  it('is unknown if the response does not show the written state', async () => {
    for (body of [{ kind: 'Status' }, 'no JSON', `"${'x'.repeat(300_000)}"`]) {
      expect(await noted('POST', `${PODS}/p/eviction`)).to.deep.equal(['unknown']);
    }
    body = { metadata: { resourceVersion: '5' } };
    expect(await noted('DELETE', PODS)).to.deep.equal(['unknown']);
    type = 'application/vnd.kubernetes.protobuf';
    expect(await noted('POST', PODS)).to.deep.equal(['unknown']);
  });

  it('ignores requests that write nothing, and kinds that are not cached', async () => {
    body = { metadata: { resourceVersion: '5' } };
    expect(await noted('GET', PODS)).to.deep.equal([]);
    expect(await noted('HEAD', PODS)).to.deep.equal([]);
    expect(await noted('POST', `${PODS}?dryRun=All`)).to.deep.equal([]);
    expect(await noted('POST', `${PODS}/p/proxy/x`)).to.deep.equal([]);
    expect(await noted('POST', '/apis/authentication.k8s.io/v1/tokenreviews')).to.deep.equal([]);
    code = 409;
    expect(await noted('POST', PODS)).to.deep.equal([]);
  });
});
