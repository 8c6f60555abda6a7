// The node of all tests of OpenSearch 2 without its security plugin.
import { requireJava } from '../../../../../support/logging/require-java.ts';
import { shareEnvironment } from '../../../../../support/shared-environment.ts';
import { type StartedNode, startNode } from './started-node.ts';

const shared = shareEnvironment(() => startNode());

/** For a `before` hook. Skips the tests without a suitable Java. */
export async function sharedNode(hook: Mocha.Context): Promise<StartedNode> {
  hook.timeout(300_000);
  await requireJava(hook);
  return shared();
}
