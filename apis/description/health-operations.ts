// Describes the health checks in OpenAPI. The gateway forwards /version to kube-apiserver, whose OpenAPI describes it.
import { Type } from '../reading/json-schema.ts';
import { COMMON_ERRORS, PUBLIC } from './filter-chain-errors.ts';
import { errors, type Operation } from './operation.ts';

const text = 'text/plain';
const chainErrors = errors(COMMON_ERRORS, 'Status');
const { 500: _, ...healthErrors } = chainErrors;

const HEALTH = {
  livez: 'Liveness of the server',
  readyz: 'Readiness of the server',
  healthz: 'Health of the server, deprecated in favour of livez and readyz',
} as const;

const query = Type.Object({
  verbose: Type.Optional(Type.String({ description: 'If present, one line per check.' })),
  exclude: Type.Optional(Type.String({ description: 'A check to exclude.' })),
});

/** Returns the operations of health, which are public. */
export function serverOperations(): Operation[] {
  const common = { tag: 'server', security: PUBLIC, method: 'get' } as const;
  const responses = {
    200: { description: 'All checks pass.', type: text },
    500: { description: 'A check fails; the body names it.', type: text },
    ...healthErrors,
  };
  return Object.entries(HEALTH).map(
    ([name, summary]): Operation => ({
      ...common,
      path: `/${name}`,
      id: `get${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      summary,
      query,
      responses,
    }),
  );
}
