// Tests of the progress of Go builds.
import { join } from 'node:path';
import { expect } from 'chai';
import { GoProgress, requiredModules } from '../../../../hack/artifacts/go-progress.ts';

describe('the progress of a Go build', () => {
  it('counts the downloaded modules, then the compiled packages out of those that are not cached', () => {
    const progress = new GoProgress(3);
    expect(progress.describe()).to.equal('counting packages');
    expect(progress.listed('go: downloading k8s.io/api v0.36.3')).to.equal(true);
    expect(progress.describe()).to.equal('downloading module 1 of at most 3: k8s.io/api v0.36.3');
    for (const name of ['k8s.io/api/core/v1', 'example.com/main']) {
      expect(progress.listed(name)).to.equal(true);
    }
    expect(progress.compiled('k8s.io/api/core/v1')).to.equal(true);
    expect(progress.describe()).to.equal('compiling package 1 of 2');
    expect(progress.compiled('example.com/main')).to.equal(true);
    expect(progress.describe()).to.equal('linking');
  });

  it('leaves errors of the compiler to the error message', () => {
    const progress = new GoProgress(1);
    expect(progress.listed('no required module provides package k8s.io/api')).to.equal(false);
    expect(progress.compiled('main.go:7: undefined: nothing')).to.equal(false);
  });

  it('counts the required modules of go.mod without its replacements', async () => {
    const folder = join(import.meta.dirname, '../../../../hack/control-plane');
    expect(await requiredModules(folder)).to.be.within(150, 250);
  });
});
