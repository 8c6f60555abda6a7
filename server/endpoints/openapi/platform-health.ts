// Health and version as OpenAPI 3.1.
import { type Description, refusals } from './platform-answers.ts';

const CHECKS: Readonly<Record<string, string>> = {
  '/livez': 'Whether the server works, or has to be restarted.',
  '/readyz': 'Whether the server takes requests.',
  '/healthz': 'The older name of both together.',
};

const text = { 'text/plain': { schema: { type: 'string' } } } as const;

export function healthPaths(): Description {
  const checks = Object.entries(CHECKS).map(([path, summary]) => [
    path,
    {
      get: {
        tags: ['health'],
        operationId: `get${path.charAt(1).toUpperCase()}${path.slice(2)}`,
        summary,
        security: [],
        parameters: [
          {
            name: 'verbose',
            in: 'query',
            description: 'Every check with its outcome; it needs no value.',
            allowEmptyValue: true,
            schema: { type: 'string' },
          },
          {
            name: 'exclude',
            in: 'query',
            description: 'A check that is left out; may be given several times.',
            schema: { type: 'array', items: { type: 'string' } },
          },
        ],
        responses: {
          200: { description: 'All checks have passed.', content: text },
          500: { description: 'A check has failed.', content: text },
          ...refusals(400, 401, 429),
        },
      },
    },
  ]);
  return {
    ...Object.fromEntries(checks),
    '/version': {
      get: {
        tags: ['health'],
        operationId: 'getVersion',
        summary: 'What this server is.',
        security: [],
        responses: {
          200: {
            description: 'The version.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['major', 'minor', 'gitVersion', 'platform'],
                  additionalProperties: { type: 'string' },
                },
              },
            },
          },
          ...refusals(400, 401, 429),
        },
      },
    },
  };
}
