// The cluster of the tests of nodes in the aggregated API and under `/kapis`, compared with kube-apiserver.
import { shareEnvironment } from '../../../support/shared-environment.ts';
import { ServedNodes } from './served-nodes.ts';

export const sharedNodes = shareEnvironment(() => ServedNodes.start());
