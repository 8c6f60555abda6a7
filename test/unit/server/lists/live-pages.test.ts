// Tests of the pages that live lists share.
import { expect } from 'chai';
import { type LivePage, LivePages } from '../../../../server/lists/live-pages.ts';

describe('LivePages', () => {
  async function* json(): AsyncGenerator<Buffer> {
    yield Buffer.from('{}');
  }

  it('shares a short page until the snapshot changes, and keeps no long one, which has a list of its objects', async () => {
    for (const [objects, computed] of [
      [500, 1],
      [501, 2],
    ] as const) {
      const pages = new LivePages();
      const snapshot = {};
      let count = 0;
      const compute = (): Promise<LivePage> => {
        count++;
        return Promise.resolve({ objects, tag: '', total: objects, resourceVersion: '1', json });
      };
      await Promise.all([pages.of(snapshot, 'a', compute), pages.of(snapshot, 'a', compute)]);
      expect(count).to.equal(1);
      await pages.of(snapshot, 'a', compute);
      expect(count, `${objects} objects`).to.equal(computed);
      await pages.of({}, 'a', compute);
      expect(count).to.equal(computed + 1);
    }
  });
});
