import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { isExpired } from '../../../../../apis/meta/v1/errors.ts';
import { Change } from '../../../../../server/cache/events/change.ts';
import { WatchWindow } from '../../../../../server/cache/events/watch-window.ts';
import { readThing } from '../../../../support/cluster/raw-objects.ts';

const change = (version: number) => new Change('ADDED', readThing(`t-${version}`, version), undefined);
const roomy = { events: 1000, ageMs: 1e9, bytes: 1e9 };

describe('the watch window', () => {
  function filled(bounds: Partial<typeof roomy>, now = () => 0): WatchWindow<{ readonly size: number }> {
    const window = new WatchWindow<{ readonly size: number }>(10n, { ...roomy, ...bounds }, now);
    for (let version = 12; version <= 300; version += 2) window.push(change(version));
    return window;
  }
  const since = (window: WatchWindow<{ readonly size: number }>, from: bigint) =>
    window.since(from).map(({ resourceVersion }) => Number(resourceVersion));

  it('gives every change after a resourceVersion, whether or not a change has it', () => {
    const window = filled({});
    expect(since(window, 10n)).to.have.length(145);
    expect(since(window, 295n)).to.deep.equal([296, 298, 300]);
    expect(since(window, 296n)).to.deep.equal([298, 300]);
    expect(since(window, 300n)).to.deep.equal([]);
    expect(since(window, 999n)).to.deep.equal([]);
  });

  it('refuses what is before its start, naming both resourceVersions', () => {
    const error = (() => {
      try {
        return filled({}).since(9n);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(isExpired(error)).to.equal(true);
    expect(error).to.have.property('message', 'too old resource version: 9 (10)');
  });

  it('forgets the oldest when there are too many, and says so to who asks for them', () => {
    const window = filled({ events: 3 });
    expect(since(window, 294n)).to.deep.equal([296, 298, 300]);
    expect(() => window.since(293n)).to.throw('too old resource version: 293 (294)');
  });

  it('forgets what is too old, also when nothing new comes', () => {
    let now = 0;
    const window = filled({ ageMs: 1000 }, () => now);
    now = 1001;
    window.trim();
    expect(window.length).to.equal(0);
    expect(() => window.since(299n)).to.throw('too old');
    expect(since(window, 300n)).to.deep.equal([]);
  });

  it('holds little of what it has forgotten', async () => {
    const window = new WatchWindow<{ readonly size: number }>(10n, { ...roomy, events: 3 }, () => 0);
    const pushed: WeakRef<object>[] = [];
    for (let version = 11; version < 211; version++) {
      const one = change(version);
      pushed.push(new WeakRef(one));
      window.push(one);
    }
    // What a WeakRef was made of lives until the next turn.
    await new Promise(setImmediate);
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    expect(pushed.filter((one) => one.deref()).length).to.be.within(3, 80);
    expect(window.length).to.equal(3);
  });

  it('forgets the oldest when they hold too many bytes', () => {
    const size = change(300).size;
    const window = filled({ bytes: size * 5 + 10 });
    expect(window.length).to.equal(5);
  });
});
