import { Type } from 'typebox';
import { errors, type Operation } from './operation.ts';
import { COMMON_ERRORS, OPEN_TO_ALL } from './refusals.ts';

const text = 'text/plain';
const refused = errors(COMMON_ERRORS, 'Status');
const { 500: _, ...refusedHealth } = refused;

const HEALTH = {
  livez: 'Whether the server lives',
  readyz: 'Whether the server has what answers are made of',
  healthz: 'As readyz, for callers that know no better',
} as const;

const query = Type.Object({
  verbose: Type.Optional(Type.String({ description: 'Given: one line for each check.' })),
  exclude: Type.Optional(Type.String({ description: 'A check that is left out.' })),
});

/** Health and version: what anybody may ask. */
export function serverOperations(): Operation[] {
  const ask = { tag: 'server', security: OPEN_TO_ALL, method: 'get' } as const;
  const answers = {
    200: { description: 'Yes.', type: text },
    500: { description: 'No: the check that failed is named.', type: text },
    ...refusedHealth,
  };
  const health = Object.entries(HEALTH).map(
    ([name, summary]): Operation => ({
      ...ask,
      path: `/${name}`,
      id: `get${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      summary,
      query,
      answers,
    }),
  );
  const version = { description: 'The version.', type: 'application/json', schema: 'Version' };
  return [
    ...health,
    {
      ...ask,
      path: '/version',
      id: 'getVersion',
      summary: 'What runs here',
      answers: { 200: version, ...refused },
    },
  ];
}
