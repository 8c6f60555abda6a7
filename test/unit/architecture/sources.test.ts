// Tests of the rules for the source text of each file.
import { expect } from 'chai';
import { projectFiles } from './repository.ts';
import { SOURCE_RULES } from './source-rules.ts';

const files = projectFiles();

describe('every file', () => {
  for (const { behaviour, applies, broken, example } of SOURCE_RULES) {
    it(behaviour, () => {
      const found = [...files]
        // The rules themselves contain what they forbid.
        .filter(([file]) => applies(file) && !file.startsWith('test/unit/architecture/'))
        .flatMap(([file, source]) => broken(file, source).map((place) => `${file}: ${place}`));
      expect(found).to.deep.equal([]);
    });

    it(`${behaviour} (the rule reports a violation)`, () => {
      expect(applies(example.file)).to.equal(true);
      expect(broken(example.file, example.source)).to.have.length(1);
    });
  }
});
