// Check of this server's own permissions to read pods and pod logs, with SelfSubjectAccessReviews.
import { recordIn } from '../../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../../cluster/connection/client.ts';
import { UnfitOptionError } from '../../store/configuration-errors.ts';

/** Permissions that the server needs in all namespaces. */
const REQUIRED = [
  { verb: 'list', resource: 'pods' },
  { verb: 'watch', resource: 'pods' },
  { verb: 'get', resource: 'pods', subresource: 'log' },
] as const;

/** Rejects with UnfitOptionError, which names the missing permission and the manifest that grants it. */
export async function checkAccess(client: ClusterClient, signal: AbortSignal): Promise<void> {
  await Promise.all(
    REQUIRED.map(async (resourceAttributes) => {
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
      const name =
        'subresource' in resourceAttributes ? `${resource}/${resourceAttributes.subresource}` : resource;
      const reason = `the server is not allowed to ${verb} ${name} in all namespaces; manifests/access/pod-logs.yaml grants it`;
      throw new UnfitOptionError('logging.store', reason);
    }),
  );
}
