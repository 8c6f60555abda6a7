// Checks the prerequisites of the tests that start OpenSearch.
import { missingForOpenSearch } from '../../../hack/log-stores/missing-prerequisite.ts';
import { type NodeKind, OPENSEARCH_2 } from '../../../hack/log-stores/node-kinds.ts';

/**
 * For a `before` hook of tests that start OpenSearch. Skips them, with one line that has the reason, if it cannot be started;
 * with CI=true they fail instead.
 */
export async function requireJava(
  test: Pick<Mocha.Context, 'skip'>,
  { kind = OPENSEARCH_2 }: { readonly kind?: NodeKind } = {},
): Promise<void> {
  const lacking = await missingForOpenSearch(process.env, kind);
  if (lacking === undefined) return;
  if (process.env['CI'] === 'true') throw new Error(lacking);
  console.log(`skipped: ${lacking}`);
  test.skip();
}
