// Tests of clients of kube-apiserver that read the nodes of ks-apiserver. They share one server with one control plane.
import { describeInformers } from './client-go.ts';
import { describeKubectl } from './kubectl.ts';
import { NODES, Platform } from './platform.ts';
import { describeWebSockets } from './web-socket.ts';

describe('clients of kube-apiserver', function () {
  this.timeout(300_000);
  let platform: Platform;

  before(async () => {
    platform = await Platform.start(NODES);
  });
  after(() => platform?.stop());

  describeKubectl(() => platform);
  describeWebSockets(() => platform);
  // Last, because it creates and deletes nodes.
  describeInformers(() => platform);
});
