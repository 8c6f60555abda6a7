import { expect } from 'chai';
import { newNotFound, StatusError } from '../../../../../apis/meta/v1/errors.ts';
import type { ClusterRequest } from '../../../../../server/cluster/connection/client.ts';
import { LastLogins } from '../../../../../server/oauth/users/last-logins.ts';
import { until } from '../../../../support/until.ts';

class Scene {
  now = Date.parse('2026-01-01T10:00:30Z');
  readonly written: string[] = [];
  readonly warned: string[] = [];
  failure: Error | undefined;
  #heard: () => void = () => undefined;
  readonly logins = new LastLogins({
    client: {
      json: async ({ path, json }: ClusterRequest & { readonly json?: unknown }) => {
        const failure = this.failure;
        this.failure = undefined;
        this.written.push(`${path.split('/')[5]} ${JSON.stringify(json)}`);
        this.#heard();
        if (failure) throw failure;
        return {};
      },
    },
    group: 'iam.platform.io',
    log: { debug: () => undefined, warn: ({ err }: { err: Error }) => void this.warned.push(err.message) },
    now: () => this.now,
  });

  async until(count: number): Promise<void> {
    while (this.written.length < count) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }
}

describe('the last sign-ins', () => {
  let scene: Scene;
  let stop: () => Promise<void>;
  beforeEach(() => {
    scene = new Scene();
    const end = new AbortController();
    const running = scene.logins.run(end.signal);
    stop = async () => {
      end.abort();
      await running;
    };
  });
  afterEach(() => stop());

  it('are written to the minute, once for each', async () => {
    for (let i = 0; i < 5; i++) scene.logins.seen('alice');
    scene.logins.seen('bob');
    await scene.until(2);
    scene.logins.seen('alice');
    scene.now += 60_000;
    scene.logins.seen('alice');
    await scene.until(3);
    expect(scene.written).to.deep.equal([
      'alice {"status":{"lastLoginTime":"2026-01-01T10:00:00Z"}}',
      'bob {"status":{"lastLoginTime":"2026-01-01T10:00:00Z"}}',
      'alice {"status":{"lastLoginTime":"2026-01-01T10:01:00Z"}}',
    ]);
  });

  it('go on behind a user who is gone', async () => {
    scene.failure = newNotFound({ group: 'iam.platform.io', resource: 'users' }, 'alice');
    scene.logins.seen('alice');
    scene.logins.seen('bob');
    await scene.until(2);
    expect(scene.warned).to.deep.equal([]);
  });

  it('say that they are refused, for want of a right for instance', async () => {
    scene.failure = new StatusError(403, 'Forbidden', 'no right to users/status');
    scene.logins.seen('alice');
    await until(() => scene.warned.length > 0);
    expect(scene.warned).to.deep.equal(['no right to users/status']);
  });
});
