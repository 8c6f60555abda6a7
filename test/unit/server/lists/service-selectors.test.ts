// Tests of the selectors of Services.
import { expect } from 'chai';
import { newForbidden, newNotFound, newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import { ServiceSelectors } from '../../../../server/lists/service-selectors.ts';
import { servedHandler } from '../../../support/handler-server.ts';

const SERVICES = { group: '', resource: 'services' };

describe('ServiceSelectors', () => {
  let now = 1;
  let allowed = true;
  let read: () => unknown;
  const paths: string[] = [];
  const client = {
    json: async ({ path }: { readonly path: string }) => {
      paths.push(path);
      return read();
    },
  };
  const checkGet = async (): Promise<void> => {
    if (!allowed) throw newForbidden(SERVICES, 'web', 'no');
  };
  const selectors = new ServiceSelectors(client, { checkGet }, () => now);
  const server = servedHandler(async (context) => {
    const [namespace = '', name = ''] = (context.request.url ?? '').slice(1).split('/');
    context.response.end(JSON.stringify((await selectors.labels(context, namespace, name)) ?? null));
  });
  const labels = async (path: string): Promise<string> => {
    const { status, body } = await server.ask(path);
    return status === 200 ? body.toString() : String(status);
  };

  it('reads a Service once within five seconds, and checks the permission each time', async () => {
    read = () => ({ spec: { selector: { app: 'web' } } });
    for (let i = 0; i < 3; i++) expect(await labels('/shop/web')).to.equal('{"app":"web"}');
    expect(paths).to.deep.equal(['/api/v1/namespaces/shop/services/web']);
    allowed = false;
    expect(await labels('/shop/web')).to.equal('403');
    allowed = true;
    read = () => {
      throw newNotFound(SERVICES, 'web');
    };
    expect(await labels('/bank/web')).to.equal('null');
    expect(await labels('/bank/web')).to.equal('null');
    expect(paths).to.have.length(2);
    now = 5_002;
    expect(await labels('/shop/web')).to.equal('null');
    expect(paths).to.have.length(3);
  });

  it('reads a Service again after a failure', async () => {
    read = () => {
      throw newServiceUnavailable('away');
    };
    expect(await labels('/shop/api')).to.equal('503');
    read = () => ({ spec: {} });
    expect(await labels('/shop/api')).to.equal('null');
  });
});
