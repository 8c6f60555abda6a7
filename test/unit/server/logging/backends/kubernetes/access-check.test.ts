// Tests of the check that the server may read pods and pod logs.
import { expect } from 'chai';
import { checkAccess } from '../../../../../../server/logging/backends/kubernetes/access-check.ts';
import { unfitOptionIn } from '../../../../../../server/logging/configuration-errors.ts';

interface Review {
  readonly spec: { readonly resourceAttributes: { readonly verb: string; readonly subresource?: string } };
}

describe('the access check of the pod log store', () => {
  const { signal } = new AbortController();
  const unfitOptionWith = async (
    isAllowed: (attributes: Review['spec']['resourceAttributes']) => boolean,
  ) => {
    const client = {
      open: () => Promise.reject(new Error('unexpected request')),
      json: async ({ json }: { readonly json?: unknown }) => ({
        status: { allowed: isAllowed((json as Review).spec.resourceAttributes) },
      }),
    };
    return unfitOptionIn(await checkAccess(client, signal).catch((error: unknown) => error));
  };

  it('names a missing permission and the manifest that grants it', async () => {
    expect(await unfitOptionWith(() => true)).to.equal(undefined);
    const unfit = await unfitOptionWith(({ subresource }) => subresource !== 'log');
    expect(unfit?.reason)
      .to.include('is not allowed to get pods/log')
      .and.include('manifests/access/pod-logs.yaml');
  });
});
