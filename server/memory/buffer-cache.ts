// A cache of buffers with a maximum total size.
import { SizedCache } from './sized-cache.ts';

export class BufferCache<Key> extends SizedCache<Key, Buffer> {
  constructor(maxBytes: number) {
    super(maxBytes, ({ length }) => length);
  }
}
