import { expect } from 'chai';
import { checkAccess } from '../../../../../../server/logging/backends/kubernetes/self-check.ts';
import { unfitOptionIn } from '../../../../../../server/logging/configuration-errors.ts';

/** What is reviewed of a right. */
interface Review {
  readonly spec: { readonly resourceAttributes: { readonly verb: string; readonly subresource?: string } };
}

describe('the rights that reading pod logs takes', () => {
  const { signal } = new AbortController();
  const faultWith = async (isAllowed: (attributes: Review['spec']['resourceAttributes']) => boolean) => {
    const client = {
      open: () => Promise.reject(new Error('nothing else is asked')),
      json: async ({ json }: { readonly json?: unknown }) => ({
        status: { allowed: isAllowed((json as Review).spec.resourceAttributes) },
      }),
    };
    return unfitOptionIn(await checkAccess(client, signal).catch((error: unknown) => error));
  };

  it('are there, or the missing one is named with what gives it', async () => {
    expect(await faultWith(() => true)).to.equal(undefined);
    const fault = await faultWith(({ subresource }) => subresource !== 'log');
    expect(fault?.reason).to.include('may not get pods/log').and.include('manifests/access/pod-logs.yaml');
  });
});
