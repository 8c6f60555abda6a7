import { recordIn } from '../../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../../cluster/connection/client.ts';
import { UnfitOptionError } from '../../configuration-errors.ts';

/** What this server has to be allowed to do in the whole cluster. */
const NEEDED = [
  { verb: 'list', resource: 'pods' },
  { verb: 'watch', resource: 'pods' },
  { verb: 'get', resource: 'pods', subresource: 'log' },
] as const;

/** Resolves when kube-apiserver answers and lets us read pods and their logs; else rejects with what is missing, and the cure. */
export async function checkAccess(client: ClusterClient, signal: AbortSignal): Promise<void> {
  await Promise.all(
    NEEDED.map(async (resourceAttributes) => {
      const review: unknown = await client.json({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        json: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes },
        },
        signal,
      });
      if (recordIn(review, 'status')['allowed'] === true) return;
      const { verb, resource } = resourceAttributes;
      const what =
        'subresource' in resourceAttributes ? `${resource}/${resourceAttributes.subresource}` : resource;
      const reason = `the server may not ${verb} ${what} in all namespaces, as manifests/access/pod-logs.yaml lets it`;
      throw new UnfitOptionError('logging.store', reason);
    }),
  );
}
